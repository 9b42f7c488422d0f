"""A value form is one new file: added to a copy of this repository, read, described, and decided in C there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from new_version import changed, copy_of_the_repository, run

from cdc_contracts.registry.core.engine.native.native_library import native_library

NEW_FORM = '''"""An instant as text of seconds, such as `1718000000.25`."""

from cdc_contracts.registry.core.values import timestamps
from cdc_contracts.registry.core.values.form_schemas import PART, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "epoch-seconds.text", "timestamp", TEXT,
    schema=text_like("[0-9]{1,12}" + PART),
    reader=timestamps.read_seconds_fraction,
    writer=timestamps.write_seconds_fraction,
    native=(NativeCheck("SECONDS_FRACTION", most=timestamps.LAST_SECOND),),
    examples=Examples(good=(('"1718000000.25"', "2024-06-10T06:13:20.25Z"),), bad=('"x"',)),
)
'''
READ = """
import json, sys
from cdc_contracts.registry.core.engine.columns import form_parts
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart
from cdc_contracts.registry.core.values import FORMS, Context
from scanned_messages import column_of, TEXT, TEXTS

def refuse(*_, **__):
    raise AssertionError("read one by one")

use = FormUse(FORMS["epoch-seconds.text"], Context(), lenient=False)
part = ScannedPart([column_of([(TEXT, "1718000000.25"), (TEXT, "1718000001.50")])], TEXTS)
form_parts.read_values = refuse
flags, texts = form_parts.validate_parts([(part, use)], texts=True)[0]
print(json.dumps([flags is None, texts.to_pylist()]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = copy_of_the_repository(tmp_path_factory.mktemp("form"))
    (tree / "registry" / "core" / "values" / "forms" / "epoch_seconds_text.py").write_text(NEW_FORM)
    return tree


def test_a_form_is_one_file_and_the_pages_are_written_from_it(tree):
    run(tree, [sys.executable, "docs/write_catalogue.py"])
    assert [name for name in changed(tree) if "/forms/" not in name] == ["docs/vocabulary.md"]
    page = (tree / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    assert "`epoch-seconds.text` | An instant as text of seconds" in page
    files = [f"tests/registry/values/{name}.py" for name in ("test_form_cases", "test_form_agreement")]
    run(tree, [sys.executable, "-m", "pytest", "-n0", *files, "-k", "epoch-seconds.text"])


@pytest.mark.skipif(native_library() is None, reason="no native part was compiled here, or it is switched off")
def test_a_form_of_known_primitives_is_decided_and_written_in_c(tree):
    folder = Path("registry", "core", "engine", "native")
    shutil.copyfile(native_library()._name, tree / folder / "libcdc_native.so")
    paths = os.pathsep.join(map(str, (tree / ".src", tree / "tests")))
    environment = {**os.environ, "PYTHONPATH": paths}
    found = subprocess.run(
        [sys.executable, "-c", READ], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == [True, ["2024-06-10T06:13:20.25Z", "2024-06-10T06:13:21.5Z"]]
