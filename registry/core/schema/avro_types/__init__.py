"""Avro types: schemas as a graph of types, names resolved, defaults checked, every message of finite size."""
