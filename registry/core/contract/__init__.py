"""Contracts: the catalogue of versions, their envelopes and value mappings, and table contracts.

In: folders of contracts and settings as people write them. Out: immutable values; no message is read here.
"""
