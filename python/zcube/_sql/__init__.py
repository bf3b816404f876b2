"""Arguments of Python's methods, and the SQL that is made of them."""
