"""Streams: topics that are followed batch by batch, from a checkpoint."""
