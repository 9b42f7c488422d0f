"""`diff` prints what two contracts say differently, and ends with 0 whatever it finds."""

from __future__ import annotations

import json

import pytest
from topics import NEWEST_CANAL

from cdc_contracts.cli.app import main

SWAP = """\
dts/canal@1 and dts/canal@2

Applies
until   2022-03-20  →  -
status  legacy      →  current
since   -           →  2022-03-20

Images
insert, after    the row in /data, or in /old  →  the row in /data
                 if there is none
snapshot, after  the row in /data, or in /old  →  the row in /data
                 if there is none
update, before   the row in /data, completed   →  the row in /old, completed
                 from /old                        from /data
update, after    the row in /old, completed    →  the row in /data
                 from /data
delete, before   the row in /old               →  the row in /data

Rules
only dts/canal@2  old-keys-in-data

Evidence
only dts/canal@1  row of a DELETE in /old
only dts/canal@1  process time before 2022-03-20T00:00:00+08:00
only dts/canal@2  row of a DELETE in /data

Undocumented
only dts/canal@1  insert-images
only dts/canal@1  init-images

Schema
type is DELETE: /data  null                       →  array, minItems 1, required
type is DELETE: /old   array, minItems 1,         →  null
                       required
type is INSERT: /data  -                          →  array, minItems 1, required
type is INSERT: /old   -                          →  null
type is INIT: /data    -                          →  array, minItems 1, required
type is INIT: /old     -                          →  null

Prose
"""
FORMS = """\

Value forms
BIT                        bit-number             →  bit-base64
TIME                       iso-time-minutes       →  sql-time
DATETIME                   iso-datetime-minutes   →  sql-datetime-zone
TIMESTAMP                  epoch-seconds-integer  →  epoch-seconds.fraction
TIME, trailing zeros       -                      →  left out
DATETIME, trailing zeros   -                      →  left out
TIMESTAMP, trailing zeros  -                      →  left out

Evidence
"""


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_swap_of_images_is_printed(capsys):
    assert main(["diff", "dts/canal@1", "dts/canal@2"]) == 0
    out, err = capsys.readouterr()
    assert out[: len(SWAP)] == SWAP
    assert err == ""


def test_the_change_of_value_forms_is_printed(capsys):
    assert main(["diff", "oms-community/canal@1", "oms-community/canal@2"]) == 0
    assert FORMS in capsys.readouterr().out


def test_contracts_that_say_the_same_are_reported_as_equal(capsys):
    assert main(["diff", NEWEST_CANAL, "dts/canal@latest"]) == 0
    assert capsys.readouterr().out == f"{NEWEST_CANAL} and {NEWEST_CANAL}\nsay the same.\n"


def test_json_has_every_difference(capsys):
    assert main(["diff", "oms-community/default@1", "oms-community/default@2", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["left"], reported["right"]) == ("oms-community/default@1", "oms-community/default@2")
    assert {"group": "value forms", "what": "BIT", "left": "bit-number", "right": "bit-base64"} in reported["meaning"]
    assert {one["group"] for one in reported["meaning"]} == {"applies", "value forms", "evidence"}
    assert reported["prose"] == []
