"""Tables: their DDL, their typed columns and rows, schemas of those, and table contracts inferred from rows.

In: DDL, canonical changes, evidence of columns. Out: layouts, typed Arrow rows, CREATE TABLE, table contracts.
"""
