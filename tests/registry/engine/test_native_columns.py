"""What the native part makes of the cells of a column is what Python makes of the same tokens, at every length."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scanned_messages import LIBRARY, column_of, digests_of, expected_digests, kind_of, span_of

from cdc_contracts.registry.core.engine.columns.opened_columns import open_columns
from cdc_contracts.registry.core.engine.columns.value_columns import ValueColumns
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse, LayoutColumn
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ABSENT,
    ARRAY,
    BOOLEANS,
    DECIMAL,
    ESCAPED,
    FALSEHOOD,
    INTEGER,
    NAMELESS,
    NULL,
    NUMBER,
    NUMBERS,
    OBJECT,
    TEXT,
    TEXTS,
    TRUTH,
    find_kinds,
    pick_present,
)
from cdc_contracts.registry.core.engine.native.value_index import NAMED
from cdc_contracts.registry.core.values import FORMS, Context

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

LENGTHS = [*range(36), 62, 63, 64, 65, 66, 127, 128, 129, 1_000, 65_535, 65_536, 65_537, 131_073]
"""Around the words of eight bytes that are copied and compared, the powers that a digest keeps, and where they repeat."""
EVERY_KIND = [
    (ABSENT, ""), (NULL, "null"), (TEXT, "a"), (ESCAPED, "\\n"), (INTEGER, "-12"), (DECIMAL, "1.5"), (NUMBER, "1e5"),
    (TRUTH, "true"), (FALSEHOOD, "false"), (ARRAY, "[1]"), (OBJECT, "{}"),
]  # fmt: skip
CHARACTERS = ("\x00", "\x1f", "A", "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd", "\uffff", "\U00010000",
              "\U0001f600", "\U0010ffff")  # fmt: skip


def escaped(character: str, *, capital: bool) -> str:
    units = [f"\\u{int.from_bytes(unit, 'big'):04x}" for unit in pairs(character.encode("utf-16-be"))]
    return "".join(unit.replace("a", "A").replace("d", "D").replace("f", "F") if capital else unit for unit in units)


def pairs(raw: bytes) -> list[bytes]:
    return [raw[at : at + 2] for at in range(0, len(raw), 2)]


ESCAPES = ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", *(escaped(one, capital=False) for one in CHARACTERS),
           *(escaped(one, capital=True) for one in CHARACTERS)]  # fmt: skip
TOKENS = [
    before + escape + behind for escape in ESCAPES for before in ("", "é", "x" * 9) for behind in ("", "ü" + escape)
]


def test_escapes_are_what_json_says_they_are():
    column = column_of([(ESCAPED, token) for token in TOKENS])
    expected = [json.loads(f'"{token}"') for token in TOKENS]
    assert column.texts(TEXTS).to_pylist() == expected
    assert digests_of(column) == expected_digests(expected)


@pytest.mark.parametrize("behind", [False, True])
def test_characters_are_counted_and_replacements_seen_at_every_length(behind):
    letters = ["a", "é", "\u20ac", "\U0001f600", "\ufffd", "\ufffc", "\uffbd"]
    texts = [
        letter * length + end
        for letter in letters
        for length in (0, 1, 2, 7, 8, 9, 16, 17)
        for end in ("", "\ufffd", " x")
    ]
    texts += [f"Name {text}" for text in texts] + [" ", "  ", "a b c", "\ufffd x"]
    tokens = [(ESCAPED, token) for token in TOKENS] + [(TEXT, text) for text in texts] + EVERY_KIND[:2] + EVERY_KIND[4:]
    read = [json.loads(f'"{token}"') for token in TOKENS] + texts + [""] * (len(EVERY_KIND) - 2)
    if behind:
        # the first blank of the token: no escape begins with one
        counted = [
            json.loads(f'"{token.partition(" ")[2]}"') if kind in (TEXT, ESCAPED) else "" for kind, token in tokens
        ]
    else:
        counted = read
    characters, replaced = column_of(tokens).count_characters(behind=behind)
    assert characters.tolist() == [len(text) for text in counted]
    assert replaced.tolist() == ["\ufffd" in text for text in counted]


def test_texts_of_every_length_are_copied_and_digested():
    texts = ["0123456789"[length % 7 :] * (length // 3 + 1) for length in LENGTHS]
    texts = [text[:length] for text, length in zip(texts, LENGTHS, strict=True)]
    column = column_of([(TEXT, text) for text in texts])
    assert column.texts(TEXTS).to_pylist() == texts
    assert digests_of(column) == expected_digests(texts)


def test_values_of_other_kinds_than_those_asked_for_are_null():
    column = column_of(EVERY_KIND)
    for kinds in (TEXTS, NUMBERS, BOOLEANS, TEXTS | BOOLEANS, 1 << NULL, 1 << DECIMAL, 0):
        expected = [json.loads(f'"{token}"') if kind == ESCAPED else token for kind, token in EVERY_KIND]
        assert column.texts(kinds).to_pylist() == [
            text if kinds >> kind & 1 else None for (kind, _), text in zip(EVERY_KIND, expected, strict=True)
        ]


@pytest.mark.parametrize("total", [1, 3, 4, 5, 17, 40])
def test_kinds_are_found_and_absent_values_counted(total):
    kinds = [EVERY_KIND[at * at % len(EVERY_KIND)][0] for at in range(total)]
    column = column_of([EVERY_KIND[at * at % len(EVERY_KIND)] for at in range(total)])
    assert column.held == sum(1 << kind for kind in set(kinds))
    assert column.absent == kinds.count(ABSENT)


@pytest.mark.parametrize("sizes", [[1], [4, 0, 17, 40], [40_000, 30_000, 5, 70_000, 3]])
def test_absent_values_are_left_out_of_columns_that_are_looked_through_together(sizes):
    turns = [[EVERY_KIND[at * at * turn % len(EVERY_KIND)] for at in range(size)] for turn, size in enumerate(sizes, 1)]
    columns = list(map(column_of, turns))
    found = list(pick_present(columns))
    for values, column, (picked, held, present) in zip(turns, columns, found, strict=True):
        assert held.tolist() == [at for at, (kind, _) in enumerate(values) if kind != ABSENT]
        assert present.tolist() == [kind != ABSENT for kind, _ in values]
        assert picked.cells.tolist() == column.cells[held].tolist()
        assert picked.held == sum(1 << kind for kind in {kind for kind, _ in values} - {ABSENT})
        assert picked.absent == 0


@pytest.mark.parametrize("decoder", [decoder_kinds.WIDE, decoder_kinds.RAW])
def test_distinct_values_are_told_apart_by_kind_and_token_however_many_they_are(decoder):
    values = [(kind, str(one)) for one in range(200) for kind in (TEXT, INTEGER, TEXT)]
    values += [
        (NULL, "null"),
        (ABSENT, ""),
        (TRUTH, "true"),
        (TEXT, "true"),
        (ARRAY, "[1]"),
        (TEXT, "[1]"),
        (NULL, "null"),
    ]
    column = column_of(values)
    column.decoder = decoder
    codes, found = column.distinct
    assert [found[code] for code in codes.tolist()] == [column._object(cell) for cell in column.cells.tolist()]
    assert len(found) == len(set(values))


def test_flags_are_found_behind_a_column_without_values():
    use, columns = FormUse(FORMS["sql-time"], Context(), lenient=False), ValueColumns()
    column = LayoutColumn("at", decoder_kinds.TEXT, (use,))
    values = [[(TEXT, "12:30:00")], [(ABSENT, "")], [(TEXT, "1e9:48:26")], [(TEXT, "12:30:00")]]
    added = list(open_columns([(column_of(one), column, False) for one in values]))
    for one in added:
        columns.add(one, [use])
    columns.validate(texts=False)
    assert [one.chunks[use].flags is None for one in added] == [True, True, False, True]


def test_integers_are_read_digit_by_digit():
    numbers = [0, 1, 9, 10, -1, -10, 10**17 + 1, 10**18 - 1, 1 - 10**18]
    tokens = [(INTEGER, str(number)) for number in numbers] + [(TEXT, "12"), (NULL, "null"), (DECIMAL, "1.5")]
    assert column_of(tokens).integers.tolist() == [*numbers, 0, 0, 0]


@pytest.mark.parametrize("total", [1, 2, 63, 64, 65])
def test_up_to_sixty_four_distinct_tokens_are_numbered_in_the_order_they_appear(total):
    tokens = [(TEXT, f"{'value' * (at % 3)}{at}") for at in range(total)]
    order = [*range(total), *range(total - 1, -1, -1), *(at * 7 % total for at in range(total))]
    column = column_of([tokens[at] for at in order])
    if total > 64:
        assert column.codes is None
        return
    codes, firsts = column.codes
    assert codes.tolist() == order
    assert firsts == list(range(total))


def test_tokens_are_one_only_if_kind_and_bytes_are_the_same():
    values = [(TEXT, "ab"), (TEXT, "ac"), (TEXT, "ab"), (TEXT, "a"), (ESCAPED, "ab"), (INTEGER, "1"), (TEXT, "1"), (ABSENT, ""),
              (ABSENT, ""), (TEXT, ""), (NULL, "null"), (TEXT, "null"), (TEXT, "bb")]  # fmt: skip
    codes, firsts = column_of(values).codes
    assert codes.tolist() == [0, 1, 0, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10]
    assert [values[first] for first in firsts] == list(dict.fromkeys(values))


@pytest.mark.parametrize(
    ("token", "last"),
    [("[1]", 1), ("[0]", 0), ("[1,2]", 2), ("[10,20,30]", 30), ("[" + "9" * 18 + "]", 10**18 - 1), ("[1,0]", 0),
     ("[" + "9" * 19 + "]", -1), ("[]", -1), ("[01]", -1), ("[1,01]", -1), ("[1,]", -1), ("[,1]", -1), ("[-1]", -1),
     ("[1.5]", -1), ("[1e5]", -1), ("[1, 2]", -1), ("[1 ]", -1), ("[null]", -1), ('["1"]', -1), ("[[1]]", -1), ("[1,[2]]", -1)],
)  # fmt: skip
def test_the_last_number_of_a_list_is_read_where_it_holds_nothing_else(token, last):
    assert column_of([(ARRAY, token), (OBJECT, "{}"), (TEXT, token)]).last_counts.tolist() == [last, -1, -1]


HEADS = ("Character ", "TextObject ", "BinaryObject ", "Integer ")


@pytest.mark.parametrize("named", [False, True])
def test_names_are_stripped_and_told_where_there_are_any(named):
    bodies = ["", "x", "Integer 5", "a longer text of several words"]
    texts = [head + body for head in HEADS for body in bodies] + ["Integer", "integer 5", "", "Other 5", "Character\t1"]
    values = [(TEXT, text) for text in texts] + [(ESCAPED, "Integer \\n"), (NULL, "null"), (INTEGER, "5"), (ABSENT, "")]
    column = column_of(values)
    if named:  # as a value index has them: the number of the name, or that there is none
        column._names = np.array(
            [next((number for number, name in enumerate(NAMED, 1) if token.startswith(f"{name} ")), 0)
             if kind in (TEXT, ESCAPED) else 0 for kind, token in values], np.uint8,
        )  # fmt: skip
    for names in (HEADS, HEADS[::-1], HEADS[2:3], ()):
        behind, places = column.strip_names(names)
        for (kind, token), cell, place in zip(values, behind.cells.tolist(), places.tolist(), strict=True):
            head = next((one for one in names if token.startswith(one)), None) if kind in (TEXT, ESCAPED) else None
            if head is None:
                assert kind_of(cell) == NULL
                assert place == (NAMELESS if kind in (TEXT, ESCAPED) else 0)
            else:
                assert (kind_of(cell), place) == (kind, names.index(head))
                assert bytes(column.source.view[slice(*span_of(cell))]).decode() == token[len(head) :]


@pytest.mark.parametrize("texts", [("away",), ("away", "é!", ""), ('["away"]',), ("a\0b", "away"), ("a\0b",), ()])
@pytest.mark.parametrize("nulls", [True, False])
def test_values_that_stand_for_one_not_sent_are_marked_however_they_are_written(texts, nulls):
    written = {
        "away": ["away", "\\u0061way", "aw\\u0061y"], "é!": ["é!", "\\u00e9!", "é\\u0021"], "": [""],
        "a\0b": ["a\\u0000b"], "a": ["a"], "b": ["b"], "way": ["way"], "awayy": ["awayy", "away\\u0079"],
    }  # fmt: skip
    cells = [(ESCAPED if "\\" in one else TEXT, one) for ways in written.values() for one in ways]
    wanted = [text in texts for text, ways in written.items() for _ in ways]
    cells += [(NULL, "null"), (INTEGER, "1234"), (ARRAY, '[ "away" ]'), (OBJECT, '{"a":1}')]
    wanted += [nulls, False, '["away"]' in texts, False]
    column = column_of(cells, decoder_kinds.WIDE)
    assert column.mark(frozenset(texts), nulls=nulls).tolist() == wanted


@pytest.mark.parametrize("before", [0, 1, 511, 512, 513, 1_500])
def test_kinds_are_found_however_many_values_of_one_are_before_another(before):
    others = [NULL, ARRAY, ABSENT, FALSEHOOD, TEXT, OBJECT, ESCAPED]
    first, second = np.full((2, before + 700), NULL, np.uint64)
    first[before : before + len(others)] = others
    second[-1] = ARRAY
    mixed, plain = find_kinds(LIBRARY, np.array([first, second]), before + 700)
    assert mixed == [sum(1 << kind for kind in others), 1]
    assert plain == [1 << NULL | 1 << ARRAY, 0]
    assert find_kinds(LIBRARY, np.array([first, second]), before)[0] == [1 << NULL if before else 0, 0]
