"""Revisions: other states of the contracts, at a git ref, in another folder or on a registry."""
