"""Write: the rows of a validated batch, as record batches of the outputs."""
