"""The core: what a contract means, and whether messages follow it. It imports no other wing."""
