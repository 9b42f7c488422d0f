"""Common ground: errors and exit codes, findings, JSON Pointers, strict JSON and YAML, files written whole.

In: bytes, texts and documents. Out: parsed values, or errors that say what is wrong, where, and what would do.
"""
