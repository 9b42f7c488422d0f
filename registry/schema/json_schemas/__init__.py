"""JSON Schemas that somebody handed in: whether they are schemas, and whether validating with them terminates."""
