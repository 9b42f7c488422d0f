"""Drift rules: what members of a message say about each other, one rule a file; a contract names those that hold."""
