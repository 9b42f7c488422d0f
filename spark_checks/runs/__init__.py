"""Runs: what each has read and written, which of them count, and what they owe to earlier ones."""
