"""Messages: validated one at a time, without Arrow, with the verdicts that a batch gives them."""
