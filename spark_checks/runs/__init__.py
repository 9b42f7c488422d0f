"""Runs: what each has read and written, which of them count, and how they depend on earlier runs."""
