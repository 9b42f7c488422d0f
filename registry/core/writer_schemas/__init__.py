"""Writer schemas: records framed for a schema registry, and the schemas that their ids name."""
