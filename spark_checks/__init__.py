"""Spark jobs: from topics or files, in batches, to findings and changes."""
