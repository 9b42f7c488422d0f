"""Files are read byte for byte: cut at line feeds and nothing else, with coordinates that never change."""

import bz2
import gzip
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.records import file_forms, input_files
from cdc_contracts.registry.core.records.file_batches import read_slice
from cdc_contracts.registry.core.records.input_files import (
    plan_files,
    read_input_without_arrow,
    read_slice_without_arrow,
)
from cdc_contracts.registry.core.stats.partition_tallies import Source


def read_all(plan, windows=None):
    rows = []
    for one in plan.slices:
        for batch in read_slice(one, plan.limits if windows is None else windows):
            columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "value"))
            rows += zip(*columns, strict=True)
    return rows


@given(
    st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=40),
    st.booleans(),
    st.integers(1, 40),
)
def test_every_line_is_a_message_with_its_number_whatever_the_slices(tmp_path_factory, lines, ends, size):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ends and lines else b""))
    before, input_files.SLICE_BYTES = input_files.SLICE_BYTES, size
    try:
        plan = plan_files([path])
    finally:
        input_files.SLICE_BYTES = before
    if lines and not lines[-1] and not ends:
        lines = lines[:-1]  # an empty last line without a line feed is no line
    total = len(lines)
    assert plan.limits == {Source("a.jsonl", 0): (0, total)}
    kept = [("a.jsonl", 0, number, line) for number, line in enumerate(lines) if line.strip(b" \t\r")]
    assert read_all(plan) == kept


def test_a_byte_order_mark_and_a_bare_carriage_return_stay_in_the_message(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a":1}\r\n{"b":\r2}\n')
    rows = read_all(plan_files([tmp_path / "a.jsonl"]))
    assert [value for *_, value in rows] == [b'\xef\xbb\xbf{"a":1}\r', b'{"b":\r2}']


def test_files_are_read_in_the_order_of_their_paths_each_as_a_topic(tmp_path):
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_bytes(b"{}\n")
    assert [row[:2] for row in read_all(plan_files([tmp_path]))] == [("a.jsonl", 0), ("b.jsonl", 0)]


def test_files_of_one_name_are_partitions_of_a_topic(tmp_path):
    for name in ("x/a.jsonl", "y/a.jsonl", "y/b.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b'"%s"\n' % name.encode())
    rows = read_all(plan_files([tmp_path]))
    assert [(*row[:2], row[-1]) for row in rows] == [
        ("a.jsonl", 0, b'"x/a.jsonl"'),
        ("a.jsonl", 1, b'"y/a.jsonl"'),
        ("b.jsonl", 0, b'"y/b.jsonl"'),
    ]


def test_a_file_that_is_given_twice_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    twice = [
        Path("a.jsonl"),
        Path("a.jsonl"),
        tmp_path / "a.jsonl",
        Path("link/a.jsonl"),
        Path(),
    ]
    assert read_all(plan_files(twice)) == [("a.jsonl", 0, 0, b"{}")]


def test_a_json_file_is_one_message_with_all_its_bytes(tmp_path):
    (tmp_path / "a.json").write_bytes(b'{\n "a": 1\n}\n')
    assert read_all(plan_files([tmp_path / "a.json"])) == [("a.json", 0, 0, b'{\n "a": 1\n}\n')]


def test_any_file_can_be_read_as_a_whole(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"{}\n{}")
    assert read_all(plan_files([tmp_path / "a.txt"], whole=True)) == [("a.txt", 0, 0, b"{}\n{}")]


def write_rows(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=2)


def test_parquet_columns_give_the_coordinates(tmp_path):
    write_rows(tmp_path / "a.parquet", value=[b"x", b"y", b"z"], topic=["t", "t", "u"],
               partition=pa.array([0, 1, 0], pa.int32()), offset=pa.array([7, 7, 9], pa.int64()))  # fmt: skip
    plan = plan_files([tmp_path / "a.parquet"])
    assert read_all(plan) == [("t", 0, 7, b"x"), ("t", 1, 7, b"y"), ("u", 0, 9, b"z")]
    assert plan.limits == {Source("t", 0): (7, 8), Source("t", 1): (7, 8), Source("u", 0): (9, 10)}


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint32(), pa.float64()])
def test_parquet_times_that_do_not_say_what_they_count_are_refused(tmp_path, kind):
    columns = {"value": pa.array([b"x"], pa.binary()), "timestamp": pa.array([1_718_000_000], kind)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")

    with pytest.raises(UsageError, match=f"its column `timestamp` is {kind}, which does not say what it counts"):
        plan_files([tmp_path / "a.parquet"])


def test_parquet_without_coordinates_counts_rows(tmp_path):
    write_rows(tmp_path / "a.parquet", value=[b"x", b"y", None])
    assert read_all(plan_files([tmp_path / "a.parquet"])) == [
        ("a.parquet", 0, 0, b"x"), ("a.parquet", 0, 1, b"y"), ("a.parquet", 0, 2, None),
    ]  # fmt: skip


def test_windows_choose_partitions_and_offsets(tmp_path):
    write_rows(tmp_path / "a.parquet", value=[b"0", b"1", b"2", b"3"])
    plan = plan_files([tmp_path / "a.parquet"])
    assert [row[2] for row in read_all(plan, {Source("a.parquet", 0): (1, 3)})] == [1, 2]
    assert read_all(plan, {}) == []


@pytest.mark.parametrize("twin", ["same file", "two files"])
def test_a_record_that_occurs_twice_is_refused_with_both_places(tmp_path, twin):
    offsets = [5, 6, 5] if twin == "same file" else [5, 6, 7]
    columns = {"value": [b"x"] * 3, "topic": ["t"] * 3, "partition": pa.array([0] * 3, pa.int32())}
    write_rows(tmp_path / "a.parquet", **columns, offset=pa.array(offsets, pa.int64()))
    if twin == "two files":
        write_rows(tmp_path / "b.parquet", **columns, offset=pa.array([7, 8, 9], pa.int64()))
    with pytest.raises(UnavailableError, match="occurs twice") as error:
        plan_files([tmp_path])
    assert error.value.exit_code == 3
    assert error.value.where.count("row group") == 2


LINES = [b'{"a": %d, "b": "\xc3\xa9"}' % number for number in range(100)]


def packed(data, ending):
    """Bytes as the usual programs compress them."""
    if ending == "zst":
        return pa.compress(data, "zstd", asbytes=True)
    return {"gz": gzip, "bz2": bz2, "xz": lzma}[ending].compress(data)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_compressed_lines_are_read_as_lines_whatever_the_chunks(tmp_path, monkeypatch, ending, kind):
    monkeypatch.setattr(file_forms, "CHUNK_BYTES", 37)
    path = tmp_path / f"a.{kind}.{ending}"
    path.write_bytes(packed(b"\n".join(LINES), ending))
    (tmp_path / "note.txt.gz").write_bytes(b"")
    plan = plan_files([tmp_path])
    assert plan.limits == {Source(path.name, 0): (0, 100)}
    assert read_all(plan) == [(path.name, 0, number, line) for number, line in enumerate(LINES)]
    window = {Source(path.name, 0): (40, 42)}
    assert [
        number for one in plan.slices for part in read_slice_without_arrow(one, window) for number in part.offsets
    ] == [
        40,
        41,
    ]


def test_what_is_compressed_is_known_by_its_bytes_and_damage_is_said(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(packed(b"{}\n{}\n", "gz"))
    assert [row[3] for row in read_all(plan_files([tmp_path / "a.jsonl"]))] == [b"{}", b"{}"]
    whole = packed(b"\n".join(LINES), "gz")
    for damaged in (whole[:-20], whole[:30] + b"\xff" * 20 + whole[50:]):
        (tmp_path / "b.jsonl.gz").write_bytes(damaged)
        with pytest.raises(UnavailableError, match="the compressed file cannot be read"):
            plan_files([tmp_path / "b.jsonl.gz"])


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_the_elements_of_one_json_array_are_messages_with_the_bytes_they_have(tmp_path, name):
    written = [b'{"a": 1.50, "a": 2}', b'{ "b" : [1, 2] }', b"{}"]
    (tmp_path / name).write_bytes(b" [\n" + b" ,\n".join(written) + b"\n]\n")
    plan = plan_files([tmp_path / name])
    assert plan.limits == {Source(name, 0): (0, 3)}
    assert read_all(plan) == [(name, 0, number, value) for number, value in enumerate(written)]
    assert [one[3] for one in read_all(plan_files([tmp_path / name], whole=True))] == [(tmp_path / name).read_bytes()]
    data = (tmp_path / name).read_bytes()
    assert [value for records in read_input_without_arrow(data, whole=False) for value in records.values] == written


def test_a_json_file_with_an_object_in_each_line_has_a_message_in_each_line(tmp_path):
    (tmp_path / "a.json").write_bytes(b'{"n":1e400}\r\n\n{"n":\xe2\x82\xac}\n{"n":3}')
    plan = plan_files([tmp_path / "a.json"])
    assert [(offset, value) for _, _, offset, value in read_all(plan)] == [
        (0, b'{"n":1e400}\r'), (2, b'{"n":\xe2\x82\xac}'), (3, b'{"n":3}'),
    ]  # fmt: skip


def test_a_blank_line_may_stand_before_the_objects_in_the_lines_of_a_json_file(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\n \n{"n":1}\n{"n":2}\n')
    found = [(offset, value) for _, _, offset, value in read_all(plan_files([tmp_path / "a.json"]))]
    assert found == [(2, b'{"n":1}'), (3, b'{"n":2}')]


@pytest.mark.parametrize(
    "content",
    [
        b'{"n":1}', b'{"n":1}\n', b'\n{\n "n":1\n}\n', b'{"n":1}\nand more', b'{"n":1}\n[2]', b'{"n":1} {"n":2}',
        b'{"n":\n1}\n{"n":2}', b'3\n{"n":2}', b"",
    ],
)  # fmt: skip
def test_what_has_no_object_in_its_first_two_lines_stays_one_message(content, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    assert [value for *_, value in read_all(plan_files([tmp_path / "a.json"]))] == [content]


def test_a_file_that_is_to_be_one_message_is_one_whatever_it_holds(tmp_path):
    (tmp_path / "a.json").write_bytes(b'{"n":1}\n{"n":2}\n')
    plan = plan_files([tmp_path / "a.json"], whole=True)
    assert [value for *_, value in read_all(plan)] == [b'{"n":1}\n{"n":2}\n']


@pytest.mark.parametrize("content", [b"[1]", b"[]", b'[{"a": 1}, 2]', b'[{"a": 1}]\n{"b": 2}', b"[{"])
def test_what_is_no_array_of_objects_stays_as_it_is(tmp_path, content):
    (tmp_path / "a.jsonl").write_bytes(content)
    assert [row[3] for row in read_all(plan_files([tmp_path / "a.jsonl"]))] == content.split(b"\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path, encoding):
    data = '{"a": 1}\n{"a": 2}\n'.encode(encoding)
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(UsageError, match="this is UTF-16"):
        plan_files([tmp_path / "a.jsonl"])
    with pytest.raises(UsageError, match="this is UTF-16"):
        list(read_input_without_arrow(data, whole=False))


def test_what_is_no_file_of_messages_is_said_clearly(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"")
    write_rows(tmp_path / "b.parquet", other=[1])
    (tmp_path / "c.parquet").write_bytes(b"not parquet")
    with pytest.raises(UnavailableError, match="no such file"):
        plan_files([tmp_path / "missing.jsonl"])
    with pytest.raises(UsageError, match="not a file type"):
        plan_files([tmp_path / "a.csv"])
    with pytest.raises(UsageError, match="no column `value`"):
        plan_files([tmp_path / "b.parquet"])
    with pytest.raises(UnavailableError, match="cannot be read"):
        plan_files([tmp_path / "c.parquet"])


@pytest.mark.parametrize("given", ["bad\udcff.jsonl", "."])
def test_a_file_name_that_is_no_utf_8_is_refused(tmp_path, given):
    (tmp_path / "bad\udcff.jsonl").write_bytes(b"{}\n")
    with pytest.raises(UsageError, match="the file name is not UTF-8"):
        plan_files([tmp_path / given])
