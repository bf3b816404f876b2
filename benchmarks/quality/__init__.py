"""How many files queries must read after each layout, on real tables, against Delta's own layouts."""
