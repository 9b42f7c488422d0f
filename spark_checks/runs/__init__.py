"""Runs: what each has read, written and quarantined, which of them count, and how they depend on earlier runs."""
