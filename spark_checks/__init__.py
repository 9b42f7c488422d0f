"""Spark jobs: topic or file, in batches, to findings and changes."""
