"""Drift rules: how members of a message must agree, one rule per file; a contract lists those that apply."""
