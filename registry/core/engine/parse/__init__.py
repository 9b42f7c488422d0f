"""Parse: the messages of a batch, scanned or parsed by the shape that they have, and sorted by layout."""
