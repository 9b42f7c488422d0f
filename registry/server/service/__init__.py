"""What endpoints need: the store as the caller may see it, with built-in contracts, and metrics."""
