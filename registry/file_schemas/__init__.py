"""The files a person writes, as JSON Schemas: what editors complete, explain and check while somebody types.

In: the models of contracts, table contracts and settings. Out: one JSON Schema per kind of file, kept in this folder.
"""
