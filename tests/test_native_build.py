"""The build of the native part: any compiler will do, and none is needed."""

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def building(monkeypatch):
    monkeypatch.delenv("CDC_CONTRACTS_PLATFORM", raising=False)
    specification = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_compiler_that_fails_fails_no_build(building, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CDC_CONTRACTS_CC", "false")
    assert building.compile_native(ROOT / building.FOLDER, tmp_path / "library.so") is False
    assert "no native part is built" in capsys.readouterr().err


def test_a_compiler_that_is_not_there_fails_no_build(building, monkeypatch, tmp_path):
    monkeypatch.setenv("CDC_CONTRACTS_CC", str(tmp_path / "no-compiler"))
    assert building.compile_native(ROOT / building.FOLDER, tmp_path / "library.so") is False


def test_a_compiler_that_writes_nonsense_fails_no_build(building, monkeypatch, tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho nonsense > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CDC_CONTRACTS_CC", str(compiler))
    assert building.compile_native(ROOT / building.FOLDER, tmp_path / "library.so") is False


def test_none_is_asked_for_where_none_is_wanted_and_the_one_of_pypi_where_that_is(building, monkeypatch):
    hook = object.__new__(building.PackageBuildHook)
    monkeypatch.setenv("CDC_CONTRACTS_CC", "none")
    assert (building.find_compilers(), hook.dependencies()) == ([], [])
    monkeypatch.setenv("CDC_CONTRACTS_CC", "zig")
    assert hook.dependencies() == ["ziglang"]
    monkeypatch.setenv("CDC_CONTRACTS_CC", "clang -target x86_64")
    assert building.find_compilers() == [["clang", "-target", "x86_64"]]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_sources_compile_without_a_warning(building, monkeypatch, tmp_path, request):
    monkeypatch.setenv("CDC_CONTRACTS_CC", "cc -Wall -Wextra -Werror -pedantic")
    optimised = (
        () if request.config.getoption("nightly") else ("-O1",)
    )  # which has most warnings in a third of the time
    assert building.compile_native(ROOT / building.FOLDER, tmp_path / "library.so", *optimised)
    assert (tmp_path / "library.so").stat().st_size > 10_000


def test_every_mutant_of_the_list_changes_one_place_of_its_source():
    """A list that no longer fits the sources would let mutants go unnoticed."""
    listing = [sys.executable, str(ROOT / "bench/native_mutants.py"), "--list"]
    listed = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(listed) > 100
    for file in ("text_bytes.h", "scanner.c", "forms.c", "typed_columns.c", "avro_reader.c", "buffers.h"):
        assert any(line.startswith(f"{file}:") for line in listed), file


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_library_in_a_zip_is_loaded(building, monkeypatch, tmp_path):
    """Spark ships packages as zips, and a library cannot be loaded out of one."""
    monkeypatch.setenv("CDC_CONTRACTS_CC", "cc")
    library, zipped = tmp_path / "library.so", tmp_path / "package.zip"
    assert building.compile_native(ROOT / building.FOLDER, library)
    package = Path(".src/cdc_contracts")
    with zipfile.ZipFile(zipped, "w") as archive:
        for folder in (package, package / "registry", package / "registry/core/engine"):
            archive.write(ROOT / folder / "__init__.py", (folder / "__init__.py").relative_to(".src"))
        for room in ("registry/core/engine/native", "registry/core/common"):
            for file in (ROOT / package / room).glob("*.py"):
                archive.write(file, file.relative_to(ROOT / ".src"))
        archive.write(library, "cdc_contracts/registry/core/engine/native/libcdc_native.so")
    program = (
        f"import sys; sys.path.insert(0, {str(zipped)!r})\n"
        "from cdc_contracts.registry.core.engine.native import native_library as found\n"
        "print(found.describe_native(), found.__file__)\n"
    )
    environment = {"PATH": "", "TMPDIR": str(tmp_path)}
    reported = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert reported.stdout.split()[0] == "native"
    assert str(zipped) in reported.stdout
