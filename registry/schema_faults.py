"""What is wrong with a schema that somebody handed in, before it is known where its text stands."""

from __future__ import annotations


class SchemaFault(Exception):
    """A schema is none, or is not safe to work with: what, at which JSON Pointer of it, how to mend it."""

    def __init__(self, what: str, pointer: str = "", *, mend: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.pointer = pointer
        self.mend = mend
