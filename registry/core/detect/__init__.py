"""Detection: the contract that messages follow, found from many of them, with the evidence.

In: a sample of messages, or an audited topic. Out: the contract, how sure that is, and the share of each version.
"""
