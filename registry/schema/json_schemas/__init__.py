"""JSON Schemas that somebody handed in: whether they are schemas, and whether judging by them comes to an end."""
