"""Contracts as data: one folder per version, nothing to import."""
