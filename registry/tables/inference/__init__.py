"""Inference: table contracts from what the rows of tables were seen to be."""
