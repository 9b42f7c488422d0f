"""What commands print: tables, reports, verdicts and plans, for people and as JSON."""
