"""Table schemas: the rows that `decode` writes of one table, in the languages of those who read them.

Each is written from the layout that decode resolves for the table (`layout_resolution.canonical_table`).
"""
