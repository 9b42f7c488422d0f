"""A library is used only if it is whole and of this build; if it is not, it is named with the reason."""

from __future__ import annotations

import _ctypes
import ctypes
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from topics import CATALOGUE
from typer.testing import CliRunner

from cdc_contracts.cli.app import app
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.native import native_interface
from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native.native_interface import Buffer
from cdc_contracts.registry.core.engine.native.source_digest import digest_sources
from cdc_contracts.registry.core.engine.native.typed_columns import read_texts
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import FORMS

LIBRARY = loading.native_library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")


@pytest.fixture
def named(monkeypatch, tmp_path):
    """A copy of the library, named by the environment."""
    copy = tmp_path / "library.so"
    shutil.copyfile(LIBRARY._name, copy)
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE_LIBRARY", str(copy))
    return copy


def reason(path: Path) -> str:
    """Return why a named library is not used; it is the same in the error and of the command."""
    with pytest.raises(UnavailableError) as raised:
        loading.native_library()
    assert str(path) in raised.value.what
    told = CliRunner().invoke(app, ["--version"]).output
    assert loading.describe_native() == f"Python ({raised.value.what})"
    assert raised.value.what.replace(" ", "") in "".join(told.split())
    return raised.value.what


def test_a_whole_library_is_used(named):
    assert loading.native_library()._name == str(named)
    assert loading.describe_native() == "native"


def test_a_library_that_is_cut_anywhere_is_named_and_never_loaded(named):
    """Loading one whose file is shorter than it says ends the process."""
    whole = named.read_bytes()
    for size in (64, 200, 4_096, len(whole) // 2, len(whole) - 4_096, len(whole) - 1):
        cut = named.with_name(f"cut at {size}.so")
        cut.write_bytes(whole[:size])
        assert loading.describe_native() == "native"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CDC_CONTRACTS_NATIVE_LIBRARY", str(cut))
            assert reason(cut).endswith(f"is cut short: it has {size:,} of {len(whole):,} bytes")


@pytest.mark.parametrize("content", [b"", b"\x7fELF and no more", b"#!/bin/sh\n" * 100])
def test_a_file_that_is_no_library_is_refused_by_name(named, content):
    named.write_bytes(content)
    assert "the system refuses to load" in reason(named)


def test_a_library_of_something_else_is_refused_by_name(monkeypatch):
    path = Path(_ctypes.__file__)
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE_LIBRARY", str(path))
    assert "is no native part of cdc-contracts" in reason(path)


def test_a_library_of_other_sources_is_not_called(monkeypatch, named):
    monkeypatch.setattr(loading, "digest_sources", lambda folder: "0123456789abcdef")
    assert "is of another build: its sources are" in reason(named)


@pytest.mark.parametrize(
    "text", ["", "sources 1", "sources 1\nforms A/VALUES\nconstants B=1\nstruct Check { float form; }\n"]
)
def test_a_library_that_describes_itself_otherwise_is_not_called(monkeypatch, named, text):
    monkeypatch.setattr(loading, "parse_interface", lambda _: native_interface.parse_interface(text))
    assert "is no native part of cdc-contracts" in reason(named) or "is of another build" in reason(named)


def test_every_change_of_a_source_changes_the_digest(tmp_path):
    sources = Path(loading.__file__).parent
    for path in [*sources.glob("*.c"), *sources.glob("*.h")]:
        shutil.copyfile(path, tmp_path / path.name)
    whole = digest_sources(tmp_path)
    assert whole == digest_sources(sources)
    for path in sorted(tmp_path.iterdir()):
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert digest_sources(tmp_path) != whole, path.name
        path.write_bytes(content)


def test_what_a_library_describes_is_what_is_declared_to_ctypes():
    """Sizes are those of C on this machine: a description that lacked a member would give another."""
    assert LIBRARY.forms["ANY_TEXT"] == (0, "AS_SENT")
    assert {native.form for form in FORMS.values() for native in form.native} <= LIBRARY.forms.keys()
    assert ctypes.sizeof(LIBRARY.structures["Check"]) == 112
    assert ctypes.sizeof(LIBRARY.structures["Block"]) == 72
    assert LIBRARY.cdc_mark.argtypes[2] is ctypes.c_uint32


def test_a_library_that_is_named_but_not_there_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE_LIBRARY", str(tmp_path / "none.so"))
    assert "there is no library at" in reason(tmp_path / "none.so")


def test_an_installed_library_that_cannot_be_used_is_named_and_messages_are_parsed_in_python(monkeypatch, tmp_path):
    installed = tmp_path / loading.NAME
    installed.write_bytes(Path(LIBRARY._name).read_bytes()[:5_000])
    monkeypatch.delenv("CDC_CONTRACTS_NATIVE_LIBRARY", raising=False)
    monkeypatch.setattr(loading, "__file__", str(tmp_path / "native_library.py"))
    monkeypatch.setattr(loading, "_load", loading._load.__wrapped__)
    assert loading.native_library() is None
    assert loading.describe_native().startswith(f"Python ({installed} is cut short")


@pytest.mark.parametrize("off", ["off", "OFF", "Off"])
def test_it_can_be_switched_off(monkeypatch, off):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", off)
    assert loading.describe_native() == "Python (CDC_CONTRACTS_NATIVE=off)"
    validator = FastValidator(open_validation(CATALOGUE, "dts/canal@2", ReadingOptions()))
    assert validator._sorter._scanner.works is False


@pytest.mark.parametrize("on", ["", "on", "ON", "eager", "EAGER"])
def test_it_can_be_switched_on(monkeypatch, on):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", on)
    assert loading.native_library() is not None
    assert loading.is_eager() is (on.lower() == "eager")


@pytest.mark.parametrize("unknown", ["no", "0", "false", "of", "of f"])
def test_a_setting_that_means_nothing_is_an_error(monkeypatch, unknown):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", unknown)
    for ask in (loading.native_library, loading.is_eager, loading.describe_native):
        with pytest.raises(UsageError, match=f"CDC_CONTRACTS_NATIVE is '{unknown}'\n  Set it to off, on or eager"):
            ask()
    done = CliRunner().invoke(app, ["--version"])
    assert done.exit_code != 0


# --- buffers


def test_memory_is_handed_over_with_its_length():
    array, data = np.arange(5, dtype=np.int64), pa.py_buffer(b"abc")
    assert [Buffer.from_param(one).size for one in (array, data, b"abcd", None, (ctypes.c_int32 * 3)())] == [
        40,
        3,
        4,
        0,
        12,
    ]
    assert Buffer.from_param(array).at == array.ctypes.data
    assert (Buffer.from_param(array).behind(8).at, Buffer.from_param(array).behind(8).size) == (
        array.ctypes.data + 8,
        32,
    )
    with pytest.raises(ValueError, match="in one piece"):
        Buffer.from_param(array[::2])


CELLS = np.array([0 << 32 | 3 << 4 | 2, 3 << 32 | 2 << 4 | 3, 5 << 32 | 1 << 4 | 4], np.uint64)
DATA = b"abc\\n7"


def of(count: int, dtype) -> np.ndarray:
    return np.zeros(count, dtype)


DIGESTED = (
    bytes(
        getattr(LIBRARY, "structures", {}).get("DigestedColumn", bytes)(
            *map(Buffer.from_param, (CELLS, None, CELLS, None)), 1, 2, 3, 1
        )
    )
    if LIBRARY is not None
    else b""
)

CALLS = {
    "cdc_texts": (DATA, CELLS, 0xFFFF, of(4, np.int32), of(6, np.uint8), of(1, np.uint8)),
    "cdc_digest_rows": (DATA, DIGESTED, of(3, np.int64), of(3, np.int64), of(16, np.uint8), of(9, np.uint64),
                        of(9, np.uint64)),
    "cdc_integers": (DATA, CELLS, of(3, np.int64)),
    "cdc_codes": (DATA, CELLS, of(3, np.uint8), of(64, np.int64)),
    "cdc_last_counts": (DATA, CELLS, of(3, np.int64)),
    "cdc_strip_names": (DATA, CELLS, b"a b ", np.array([0, 2, 4], np.int32), of(3, np.uint8), of(256, np.uint8),
                        of(3, np.uint64), of(3, np.uint8)),
    "cdc_count_characters": (DATA, CELLS, 0, of(3, np.int32), of(3, np.uint8)),
    "cdc_fingerprint": (b'{"a":1}', np.array([0, 7], np.int32), np.array([0]), b'"a"', np.array([0, 3], np.int32),
                 np.array([2], np.int32), b"}}", of(1, np.uint64)),
    "cdc_open_texts": (rb'{"a":"{}"}', np.array([0, 10], np.int32), of(1, np.uint8) + 1, of(1, np.uint8),
                       np.array([0, 1, 0, -1], np.int32), b"a", 10, of(10, np.uint8), of(2, np.int32), of(1, np.int64)),
    "cdc_find_kinds": (CELLS, 3, of(2, np.int64)),
    "cdc_read_base64": (np.array([0, 4, 8], np.int32), b"AAAAAAAA", b"\xff", 0, np.array([0, 1]), 0, of(2, np.int32),
                        of(6, np.uint8), of(1, np.uint8), 0),
    "cdc_read_texts": (np.array([0, 1, 2], np.int32), b"12", b"\xff", 0, np.array([0, 1]), 0, 0, 0, of(2, np.int64),
                       of(1, np.uint8), 0),
    "cdc_place_keys": (np.array([0, 1, 2], np.int32), b"ab", np.array([0, 1, 2], np.int32), b"\xff", 0, 2,
                       np.array([0, 1], np.int32), b"b", 1, of(2, np.int64), of(1, np.int64)),
}  # fmt: skip
FREE = {("cdc_texts", 0), ("cdc_digest_rows", 0), ("cdc_integers", 0), ("cdc_codes", 0), ("cdc_last_counts", 0),
        ("cdc_strip_names", 0), ("cdc_count_characters", 0)}  # fmt: skip
"""The bytes that cells point into: the scanner wrote the cells for them."""
COUNTING = {
    ("cdc_fingerprint", 2),
    ("cdc_fingerprint", 4),
    ("cdc_open_texts", 1),
    ("cdc_open_texts", 4),
    ("cdc_digest_rows", 2),
    ("cdc_digest_rows", 4),
    ("cdc_read_base64", 4),
    ("cdc_read_texts", 4),
} | {(name, 1) for name, at in FREE}
"""Buffers whose length says how much there is to do."""


@pytest.mark.parametrize("name", CALLS)
def test_a_buffer_that_is_too_short_is_refused_before_anything_is_written(name):
    arguments, function = CALLS[name], getattr(LIBRARY, name)
    function(*(one.copy() if isinstance(one, np.ndarray) else one for one in arguments))
    for at, whole in enumerate(arguments):
        if isinstance(whole, int) or (name, at) in FREE | COUNTING:
            continue
        if name == "cdc_strip_names" and at == 3:  # two names become one
            continue
        given = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        given[at] = whole[:-1]
        with pytest.raises(ValueError, match=f"too short for {name}"):
            function(*given)


@pytest.mark.parametrize("offsets", [[0, 9, 4], [0, -1, 4], [3, 1, 4]])
def test_offsets_that_lead_out_of_their_bytes_are_refused(offsets):
    texts = pa.StringArray.from_buffers(2, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"1234"))
    with pytest.raises(ValueError, match="points outside of another"):
        read_texts([(texts, np.arange(2))], pa.int64())


def test_a_place_that_no_text_has_is_refused():
    with pytest.raises(ValueError, match="points outside of another"):
        read_texts([(pa.array(["1"]), np.array([1]))], pa.int64())
