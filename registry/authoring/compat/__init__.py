"""Compatibility: whether readers of one version read the messages of another correctly, with a proof if not.

In: two contracts, JSON Schemas, Avro schemas or table contracts, and a policy. Out: a verdict, and its messages.
"""
