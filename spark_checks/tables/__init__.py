"""Typed tables: the rows of changes in columns of their own, in each format."""
