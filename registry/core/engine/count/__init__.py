"""Count: a validated batch as a tally: its records, findings, ranges and row changes."""
