"""Tasks: the share of the work that each is given, and what is done with it: batches in, a tally and file names out."""
