"""A change to contracts, reviewed: what lint finds, and what became of what is published, for CI to show.

In: a folder, and where it was before: a git ref, another folder, a registry. Out: annotations in CI's formats.
"""
