"""Writer schemas: records framed for a schema registry, and the schemas that their ids name.

In: an id in front of a record, and where its schema is found. Out: the schema, and the schema block that says the same.
"""
