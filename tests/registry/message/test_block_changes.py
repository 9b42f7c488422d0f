"""What changed between two schema blocks: columns, types, NULL and defaults."""

import pytest

from cdc_contracts.registry.core.message.block_changes import compare_blocks


def struct(*fields, **more):
    return {"type": "struct", "fields": list(fields), **more}


def field(called, kind="int32", **more):
    return {"field": called, "type": kind, "optional": False, **more}


DECIMAL = {"name": "org.apache.kafka.connect.data.Decimal"}
CASES = {
    "nothing": (struct(field("a")), struct(field("a")), []),
    "another order": (struct(field("a"), field("b")), struct(field("b"), field("a")), []),
    "added": (struct(), struct(field("a", "string")), [(("a",), "added", None, "string")]),
    "dropped": (struct(field("a")), struct(), [(("a",), "dropped", "int32", None)]),
    "type": (struct(field("a")), struct(field("a", "int64")), [(("a",), "type", "int32", "int64")]),
    "scale": (
        struct(field("a", "bytes", **DECIMAL, parameters={"scale": "2"})),
        struct(field("a", "bytes", **DECIMAL, parameters={"scale": "3"})),
        [(("a",), "type", f"{DECIMAL['name']}(*,2)", f"{DECIMAL['name']}(*,3)")],
    ),
    "null": (struct(field("a")), struct(field("a", optional=True)), [(("a",), "nullable", "false", "true")]),
    "default": (
        struct(field("a", "string", default="x1")), struct(field("a", "string", default="secret")),
        [(("a",), "default", "a9", "aaaaaa")],
    ),
    "no default": (struct(field("a", "string", default="x")), struct(field("a", "string")),
                   [(("a",), "default", "a", None)]),
    "inside": (
        struct(field("source", "struct", fields=[field("ts")])),
        struct(field("source", "struct", fields=[field("ts"), field("ns", "int64")])),
        [(("source", "ns"), "added", None, "int64")],
    ),
    "both images": (
        struct(*(field(image, "struct", optional=True, fields=[field("a")]) for image in ("before", "after"))),
        struct(*(field(image, "struct", optional=True, fields=[field("a", "int64")]) for image in ("before", "after"))),
        [(("a",), "type", "int32", "int64")],
    ),
    "a struct in a list": (
        struct(field("list", "array", items=struct(field("a")))),
        struct(field("list", "array", items=struct(field("a", "int64")))),
        [(("list", "a"), "type", "int32", "int64")],
    ),
    "a list instead of one": (
        struct(field("one", "struct", name="T", fields=[field("a")])),
        struct(field("one", "array", items=struct(field("a"), name="T"))),
        [(("one",), "type", "T", "T[]")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_changes_of_a_block_are_named_with_what_was_and_is(case):
    old, new, wanted = CASES[case]
    assert [tuple(one) for one in compare_blocks(old, new)] == wanted
