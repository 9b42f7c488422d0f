"""Lakehouse tables, of Delta and Iceberg: histories of changes, and the current rows."""
