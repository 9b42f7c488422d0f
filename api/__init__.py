"""The Python interface: messages, batches and DataFrames read by their contract, as Python values.

`import cdc_contracts` exports all of it and imports each part on first use.
"""
