"""The report of an audit, and its formats for people and tools: text, HTML, Markdown, JUnit XML.

In: the tally of a run. Out: one JSON document, and pure functions from it to text.
"""
