"""Review of a change to contracts: findings of lint, and breaking changes to published contracts, for CI.

In: a folder, and its published state: a git ref, another folder, a registry. Out: annotations in formats of CI.
"""
