"""Explanations for people: a contract, a message, a finding, a rule, the difference of two contracts.

In: contracts, verdicts and findings. Out: plain values and Markdown pages in words of our own.
"""
