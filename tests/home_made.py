"""Messages of dialects that no contract describes, made for tests: what each message did to a row is known."""

from __future__ import annotations

import json
from random import Random


def written(messages):
    """Return messages as lines of JSON."""
    return [json.dumps(message, ensure_ascii=False).encode() for message in messages]


def flat(count=30, seed=1):
    """One row beside an op of one letter, a name of two parts, and a time."""
    draw, rows, number = Random(seed), {}, 0
    for at in range(count):
        op = "IUD"[at] if at < 3 else draw.choice("IIUUD") if rows else "I"
        if op == "I":
            number += 1
            rows[number] = {"id": number, "name": draw.choice(["Ann Lee", "Bob Ray"]), "total": 12.5 + at, "note": None}
        key = draw.choice(list(rows))
        if op == "U":
            rows[key] = {**rows[key], "total": at + 0.25}
        row = rows.pop(key) if op == "D" else rows[number if op == "I" else key]
        yield {"op": op, "tbl": "shop.orders", "ts": 1_760_000_000_000 + 1000 * at, "row": row}


def listed(count=30, seed=2):
    """Rows before and after in lists, types in a list of objects, and codes that are no words."""
    draw, rows, number = Random(seed), {}, 0
    for at in range(count):
        code = "AEX"[at] if at < 3 else draw.choice("AAEEX") if rows else "A"
        before = after = []
        if code == "A":
            number += 1
            after = [{"id": str(number), "mail": f"ann{number}@example.org", "born": f"19{50 + number}-03-04"}]
            rows[number] = after[0]
        else:
            key = draw.choice(list(rows))
            before = [rows.pop(key)]
            if code == "E":
                after = [{**before[0], "mail": f"bob{at}@example.org"}]
                rows[key] = after[0]
        types = [
            {"name": "id", "type": "bigint"},
            {"name": "mail", "type": "varchar(80)"},
            {"name": "born", "type": "date"},
        ]
        header = {
            "event": code,
            "database": "crm",
            "table": "people",
            "commitTime": 1_760_000_000 + at,
            "lsn": 900 + at,
        }
        yield {"header": header, "columns": types, "keys": ["id"], "before": before, "after": after}
