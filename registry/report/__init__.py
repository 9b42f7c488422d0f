"""The report of an audit, and how people read it: terminal, HTML, Markdown, JUnit XML.

In: the tally of a run. Out: one JSON document, and pure functions from it to text.
"""
