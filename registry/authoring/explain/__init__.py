"""Explanations for people: of a contract, a message, a finding, a rule, or the differences between two contracts.

In: contracts, verdicts and findings. Out: plain values and Markdown pages.
"""
