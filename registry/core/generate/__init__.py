"""Messages generated from contracts: of every version, conforming or deliberately drifting.

In: a contract, a seed, a table. Out: the bytes of messages, streams of events, and the samples of a contract.
"""
