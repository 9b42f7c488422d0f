"""The files a person writes, as JSON Schemas: what editors complete, explain and check while somebody types."""
