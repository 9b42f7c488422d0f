"""Drift classes: the kinds of findings, one file per class, with the causes that it distinguishes."""
