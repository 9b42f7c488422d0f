"""Tables: their DDL, typed columns, rows and schemas, and table contracts inferred from rows.

In: DDL, canonical changes, evidence of columns. Out: layouts, typed Arrow rows, CREATE TABLE, table contracts.
"""
