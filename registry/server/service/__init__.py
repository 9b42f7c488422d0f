"""What endpoints work with: the store as one caller sees it, with the contracts in it, and metrics."""
