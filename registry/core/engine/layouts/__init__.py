"""Layouts: what a message is decoded to in C, and the values of a batch once they are decoded, not yet validated."""
