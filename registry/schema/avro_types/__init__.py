"""Avro schemas as a graph of types: names resolved, defaults known to fit, every message of finite size."""
