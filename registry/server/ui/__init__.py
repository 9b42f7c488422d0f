"""The server's web pages: contracts, subjects, and comparisons of two versions. No scripts."""
