"""Messages generated from contracts: those of every version, conforming or drifting on purpose.

In: a contract, a seed, a table. Out: the bytes of messages, streams of events, and the samples of a contract.
"""
