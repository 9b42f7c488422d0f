"""An id that was given stands for its schema for ever: whatever else becomes of its line breaks readers."""

import pytest

from cdc_contracts.registry.authoring.sync.schema_ids import compare_ids

ONE, OTHER = "1" * 64, "2" * 64
LOCK = f"7 acme/plain@1 JSON {ONE}\n8 orders-value@3 AVRO {OTHER}\n"


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (LOCK, []),
        (LOCK + f"9 acme/plain@2 JSON {ONE}\n", []),
        (LOCK.replace(f"{ONE}\n", f"{ONE} retired\n"), []),
        (LOCK.replace("7 acme", "9 acme"), [(1, "id 7 was acme/plain@1 JSON, and now that has id 9")]),
        (LOCK.replace(ONE, "3" * 64), [(1, "id 7 was acme/plain@1 JSON, and now it belongs to a different schema")]),
        (LOCK.partition("\n")[2], [(None, "id 7 was acme/plain@1 JSON, and now it is missing")]),
        (None, [
            (None, "id 7 was acme/plain@1 JSON, and now it is missing"),
            (None, "id 8 was orders-value@3 AVRO, and now it is missing"),
        ]),
    ],
)  # fmt: skip
def test_an_id_is_kept(now, says, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, text in ((old, LOCK), (new, now)):
        folder.mkdir()
        if text is not None:
            (folder / "ids.lock").write_text(text)
    found = list(compare_ids(old, new))
    assert [(one.new_place.line, one.says) for one in found] == says
    assert {(one.rule, one.severity) for one in found} <= {("C411", "breaking")}
    assert list(compare_ids(tmp_path, new)) == []
