"""A version is one new folder: the page in CONTRIBUTING.md, done in a copy of this repository, and tested there.

`just nightly` runs all tests of the registry and of commands there.
"""

import sys

from new_version import add_the_version, changed, copy_of_the_repository, run

WRITTEN = {"contracts/ids.lock", "docs/catalogue/README.md", "docs/catalogue/dts-canal.md", "docs/vocabulary.md"}
"""Files that the commands of the page write."""
GENERIC = [
    f"tests/registry/{file}.py"
    for file in (
        "generate/test_samples",
        "engine/test_differential",
        "schema/test_written_files",
    )
]


def test_it_changes_its_folder_and_written_files_and_the_generic_tests_cover_it(tmp_path):
    tree = copy_of_the_repository(tmp_path)

    add_the_version(tree)

    names = {name for name in changed(tree) if not name.startswith("contracts/dts/canal/v3/")}
    assert names == WRITTEN
    run(tree, [sys.executable, "-m", "pytest", "-n0", "--nightly", "-p", "new_version", *GENERIC])
    run(tree, [sys.executable, "-m", "pytest", "-n0", "tests/registry/contract/test_catalogue.py"])
