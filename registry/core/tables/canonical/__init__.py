"""Canonical tables: the rows of one source table, typed, from the canonical text of changes."""
