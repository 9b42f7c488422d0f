"""Revisions: contracts as they are somewhere else, at a git ref, in another folder or on a registry."""
