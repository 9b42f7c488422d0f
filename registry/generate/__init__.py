"""Messages made from contracts: every version said backwards, conforming or drifting on purpose.

In: a contract, a seed, a table. Out: the bytes of messages, streams of events, and the samples of a contract.
"""
