"""Options that commands share, and the values they are parsed to."""
