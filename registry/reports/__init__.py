"""The report of an audit as people read it: pure functions from the report to text."""
