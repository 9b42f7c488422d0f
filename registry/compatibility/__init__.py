"""Compatibility: whether readers of one version read the messages of another right, with a proof where not."""
