"""Submitted JSON Schemas: whether they are valid, and whether validating with them terminates."""
