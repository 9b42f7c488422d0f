"""Messages: from the bytes of a Kafka value, by its envelope, to ops, names, times and images.

In: bytes, a contract and reading options. Out: parsed JSON, canonical changes, or why the bytes are no message.
"""
