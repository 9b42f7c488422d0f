"""DTS messages about a few rows that change again and again, as either version of the contract writes them."""

import itertools
import json
from random import Random

from chain_topics import NEW, scope_of

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally


def message(op, number, *, data=None, old=None, table="orders", time=1_760_000_000_000):
    """A DTS message; its id and time rise with its number."""
    return json.dumps({
        "database": "shop", "table": table, "type": op, "isDdl": False, "id": number + 1, "es": time + 1000 * number,
        "ts": time + 1000 * number + 9, "sql": "", "sqlType": {"id": -5, "name": 12, "size": 4},
        "mysqlType": {"id": "bigint", "name": "varchar", "size": "int"}, "pkNames": ["id"], "data": data, "old": old,
    }).encode()  # fmt: skip


def update(number, before, after, *, version, partial=False, **more):
    """An UPDATE as a version writes it; a partial one has the changed columns only in the image that may lack some."""
    changed = {name for name in after if after[name] != before[name]}
    if version == NEW:
        old = {name: before[name] for name in before if not partial or name in changed}
        return message("UPDATE", number, data=[after], old=[old], **more)
    data = {name: before[name] for name in before if not partial or name in changed}
    return message("UPDATE", number, data=[data], old=[after], **more)


def delete(number, row, *, version):
    return message("DELETE", number, **{"data" if version == NEW else "old": [row]})


class Rows:
    """A few rows that change again and again, written in the version of the moment."""

    def __init__(self, keys, seed=1):
        self.draw = Random(seed)
        self.keys = keys
        self.rows = {}
        self.steps = itertools.count(1)

    def step(self, number, version, *, deletes=False, partial=False):
        key = self.draw.choice(self.keys)
        row = self.rows.get(key)
        if row is None:
            self.rows[key] = {"id": str(key), "name": f"n{next(self.steps)}", "size": str(self.draw.randint(0, 3))}
            return message("INSERT", number, data=[self.rows[key]])
        if deletes and self.draw.random() < 0.1:
            del self.rows[key]
            return delete(number, row, version=version)
        after = {**row, "name": f"n{next(self.steps)}"}
        self.rows[key] = after
        return update(number, row, after, version=version, partial=partial)


def audited(parts, contract):
    kernel, tally = Kernel(scope_of(contract)), Tally()
    for part in parts:
        tally.merge(kernel.audit(part))
    return tally


def stream(count, version_at, *, keys=12, seed=1, **options):
    rows = Rows(range(keys), seed)
    return [rows.step(number, version_at(number), **options) for number in range(count)]
