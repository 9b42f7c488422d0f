"""Inputs: topics and files, the ranges of them that are read, and the samples that are taken first."""
