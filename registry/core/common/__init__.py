"""Common ground: errors and exit codes, findings, JSON Pointers, strict JSON and YAML, files written whole.

In: bytes, texts and documents. Out: parsed values, or errors with cause, place and hint.
"""
