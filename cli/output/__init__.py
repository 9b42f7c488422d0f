"""Output of commands: tables, reports, verdicts and plans, for people and as JSON."""
