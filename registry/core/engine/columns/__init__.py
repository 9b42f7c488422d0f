"""Columns: the values of a batch by value form and column, and flags of the records with unusual values or members."""
