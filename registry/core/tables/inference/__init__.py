"""Inference: table contracts from observed rows of tables."""
