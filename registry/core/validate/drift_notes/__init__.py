"""Drift notes: rules whose findings are only notes, one per file; a contract lists those that apply under `notes`."""
