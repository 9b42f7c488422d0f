"""The reference validator: one message under one version, with every finding, and the verdict over all versions.

In: a parsed message and a validation context. Out: version verdicts and verdicts. The fast path gives the same.
"""
