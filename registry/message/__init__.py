"""One message: from the bytes of a Kafka value, by its envelope, to ops, names, times and images.

In: bytes, a contract and what the user adds to it. Out: parsed JSON, canonical changes, or why the bytes are none.
"""
