"""The page of a subject shows the metadata of a version, and no value that is marked as sensitive."""

from cdc_contracts.registry.server.store.attachments import merge_metadata
from cdc_contracts.registry.server.ui.subject_pages import metadata_rows


def rows_of(metadata):
    return [(str(name), str(value)) for name, value in metadata_rows(metadata)]


def test_properties_and_tags_are_listed_by_name_and_sensitive_values_are_not_shown():
    metadata = {
        "properties": {"team": "orders", "secret": "hunter2", "contract": "dts/canal@2"},
        "tags": {"$.card": ["PII", "PCI"]},
        "sensitive": ["secret"],
    }
    assert [value for _, value in rows_of(metadata)] == ["dts/canal@2", "(sensitive)", "orders", "PII, PCI"]
    names = [name for name, _ in rows_of(metadata)]
    for name, expected in zip(names, ["contract", "secret", "team", "$.card"], strict=True):
        assert expected in name


def test_names_and_values_are_text_on_one_line_and_long_values_are_cut():
    ((name, value),) = rows_of({"properties": {"<script>": "a\nb" + "x" * 1000}})
    assert "<script>" not in name
    assert value.startswith("a\\nbx")
    assert value.endswith("more characters)")


def test_a_version_without_metadata_has_no_rows():
    assert rows_of(None) == rows_of({}) == rows_of(merge_metadata(None, None)) == []
