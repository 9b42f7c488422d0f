"""Lakehouse tables in Delta and Iceberg: histories of changes, and current rows."""
