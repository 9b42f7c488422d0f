"""The fast validator: a batch of records in, one pass, the same verdicts as the reference.

In: record batches and a validation context. Out: a tally, and record batches of changes, control and quarantine.

Begin with `kernel.py`. A batch passes through the folders in the order parse, columns, group, statistics, count, write.
"""
