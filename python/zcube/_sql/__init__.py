"""Arguments of the Python methods, and the SQL that is built from them."""
