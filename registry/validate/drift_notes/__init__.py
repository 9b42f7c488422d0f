"""Drift notes: rules whose findings are only noted, one a file; a contract names those that hold under `notes`."""
