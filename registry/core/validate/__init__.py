"""The reference validator: one message under one version, with every finding, and the verdict over all versions.

In: a parsed message and a validation context. Out: judgements and verdicts. The fast path must give the same.
"""
