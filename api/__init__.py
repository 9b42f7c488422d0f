"""The Python interface: messages, batches and DataFrames by their contract, in values of Python.

`import cdc_contracts` exports all of it, and imports nothing before it is used.
"""
