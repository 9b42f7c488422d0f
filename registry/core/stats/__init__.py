"""Statistics over many records: counts, findings, positions, versions over time, small and mergeable in any order.

In: verdicts and facts of records. Out: tallies that tasks send to the driver, and findings of a whole run.
"""
