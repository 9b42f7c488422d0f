"""Lint rules: whether contracts are consistent; one rule per file, its record with its check."""
