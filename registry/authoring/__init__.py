"""Authoring: what writes, checks, compares and publishes contracts. It imports the core alone."""
