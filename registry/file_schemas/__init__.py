"""JSON Schemas of the files that people write, for completion, explanation and validation in editors.

In: the models of contracts, table contracts and settings. Out: one JSON Schema per kind of file, kept in this folder.
"""
