"""Schemas: those submitted by clients, validated before use, and those of our versions.

In: JSON Schema and Avro texts, or a contract. Out: parsed schemas, or `message.schema.json` and `message.avsc`.
"""
