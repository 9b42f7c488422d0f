"""Schema faults: what is wrong with a schema that was handed in, before it is known which file it came from."""

from __future__ import annotations


class SchemaFault(Exception):
    """A schema is none, or is not safe to work with: what, where in it, how to fix it.

    `pointer` is a JSON Pointer into the schema; where its text is no JSON, `line` and `column` say where, from 1.
    """

    def __init__(self, what: str, pointer: str = "", *, hint: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.pointer = pointer
        self.hint = hint
        self.line = line
        self.column = column
