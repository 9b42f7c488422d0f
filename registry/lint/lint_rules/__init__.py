"""Lint rules: what holds contracts together, one rule a file: its record with its check."""
