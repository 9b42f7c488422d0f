"""Avro schemas compared by the specification's rules of schema resolution."""
