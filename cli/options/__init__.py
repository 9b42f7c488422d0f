"""Options that commands share, and the values they stand for."""
