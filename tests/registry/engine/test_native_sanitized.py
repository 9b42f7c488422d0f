"""No bytes make the native part read or write where it must not: it runs under sanitizers, with changed messages.

CDC_CONTRACTS_FUZZ says how many messages are changed, of all versions; without it they are few, of some versions.
`just native-sanitized` runs all tests of the native part under the sanitizers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from native_corpus import VERSIONS, write_corpus

from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native.source_digest import digest_sources

ROOT = Path(__file__).parents[3]
NATIVE = Path(os.environ.get("CDC_CONTRACTS_NATIVE_SOURCES") or ROOT / "registry/core/engine/native")
"""The sources; other ones where mutants of them are tried."""
MESSAGES = int(os.environ.get("CDC_CONTRACTS_FUZZ", "0"))
FEW = 1_500
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OPTIONS = ("-std=c11", "-O1" if MESSAGES else "-O0", "-g", "-fPIC", "-fno-omit-frame-pointer", *SANITIZERS)
TESTS = (
    "test_native_calendar.py::test_exactly_the_days_of_the_calendar_are_dates",
    "test_native_columns.py",
    "test_placed_images.py",
    "test_native_limits.py",
    "test_native_utf8.py",
    "test_text_image_values.py",
)
LEFT_OUT = "not no_version and not a_text_is_taken_exactly and not of_an_avro_record"
"""Tests of very many bytes, and those that learn the shapes of every version: the fuzzed messages stand for them."""

pytestmark = pytest.mark.skipif(
    loading.native_library() is None, reason="no native part was compiled here, or it is switched off"
)


def sanitizer(name: str) -> str:
    """Return the path of a sanitizer's library; the bare name if there is none."""
    found = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """The native part, compiled with sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if subprocess.run(["cc", *SANITIZERS, "-o", folder / "probe", probe], capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no sanitizers")
    sources = sorted(NATIVE.glob("*.c"))
    named = f'-DCDC_SOURCES="{digest_sources(Path(loading.__file__).parent)}"'  # a library of other sources is refused
    subprocess.run(["cc", *OPTIONS, named, "-c", *sources], cwd=folder, check=True)
    return [str(folder / f"{source.stem}.o") for source in sources]


def test_changed_messages_of_real_contracts_hurt_nothing(objects, tmp_path, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")
    program, corpus = tmp_path / "fuzz", tmp_path / "corpus"
    by_transport = [[one for one in VERSIONS if one.meaning.transport == name] for name in ("json", "avro")]
    write_corpus(corpus, VERSIONS if MESSAGES else [one for some in by_transport for one in part(some, 12)])
    source = ROOT / "tests/native_fuzz.c"
    subprocess.run(
        ["cc", *OPTIONS, f"-I{NATIVE}", "-Wall", "-Wextra", "-Werror", "-o", program, source, *objects], check=True
    )
    done = subprocess.run(
        [program, corpus, str(MESSAGES or FEW), "7"], capture_output=True, text=True, check=False, timeout=6 * 3600,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4_000:]


def test_the_sources_are_standard_c99():
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    options = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
    subprocess.run(["cc", *options, '-DCDC_SOURCES="x"', *sorted(NATIVE.glob("*.c"))], check=True)


def test_the_tests_of_its_limits_pass_under_sanitizers(objects, tmp_path):
    library = tmp_path / "sanitized.so"
    subprocess.run(["cc", *SANITIZERS, "-shared", "-o", library, *objects], check=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{sanitizer('libasan.so')} {sanitizer('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it allocates; the fuzzed messages look for leaks
        "PYTHONMALLOC": "malloc",
        "CDC_CONTRACTS_NATIVE": "eager",
        "CDC_CONTRACTS_NATIVE_LIBRARY": str(library),
    }
    files = [str(Path(__file__).parent / name) for name in TESTS]
    plugins = ["-p", "no:faulthandler", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-n0", "-q", *plugins, "-k", LEFT_OUT, *files]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
