"""Typed tables: changes with a typed column per source column, in each table format, and the tasks that write them."""
