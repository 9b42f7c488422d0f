"""Drift classes: what a finding may be, one class a file, with the causes that it tells apart."""
