"""`breaking`: changes to published contracts are reported on the line that changed, with a proof."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from repositories import commit, edit, git, line_of
from topics import NEWEST_CANAL

from cdc_contracts.cli.app import main

OWN = Path(__file__).parents[1] / "registry" / "lint" / "contracts"
UNTIL = "until 2999-12-31 because all readers were told"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The contracts of a repository whose branch main has published them; the working directory is its top."""
    root = shutil.copytree(OWN, tmp_path / "contracts")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "published")
    git(tmp_path, "checkout", "-q", "-b", "change")
    monkeypatch.chdir(tmp_path)
    return root


def breaking(capsys, *arguments):
    code = main(["breaking", "--against", "main", *arguments])
    return code, *capsys.readouterr()


def findings(capsys, *arguments):
    code, out, _ = breaking(capsys, "--format", "json", *arguments)
    reported = json.loads(out)
    return code, [(one["rule"], one["severity"], one["file"], one["line"]) for one in reported["findings"]], reported


def test_without_a_change_nothing_breaks(root, capsys):
    code, out, err = breaking(capsys)
    assert (code, out) == (0, "")
    assert err.startswith("2 contracts: no findings; compared with main (")


def test_prose_samples_and_provenance_may_change(root, capsys):
    edit(root / "acme/plain/v1/contract.yaml", "section: Plain messages", "section: Messages, plain")
    edit(root / "acme/plain/v1/envelope.schema.json", '"description": "', '"description": "More: ')
    (root / "acme/plain/v1/samples/add.json").unlink()
    assert breaking(capsys)[0] == 0


def test_a_changed_value_form_is_reported_on_its_line_for_all_contracts_that_use_it(root, capsys):
    edit(root / "acme/types/acme-two.yaml", "epoch-seconds.fraction: [TIMESTAMP]", "iso-datetime-minutes: [TIMESTAMP]")
    code, found, reported = findings(capsys)
    file = root / "acme/types/acme-two.yaml"
    assert (code, found) == (1, [("C401", "error", "contracts/acme/types/acme-two.yaml", line_of(file, "TIMESTAMP"))])
    (one,) = reported["findings"]
    assert (one["old"], one["new"], one["contracts"]) == (
        "epoch-seconds.fraction",
        "iso-datetime-minutes",
        ["acme/plain@2"],
    )
    assert one["proof"]["old"] == "accepted"
    assert one["proof"]["new"].startswith("D07.iso-datetime-minutes at /new/")
    assert one["old_place"]["file"] == "main:contracts/acme/types/acme-two.yaml"


def test_a_moved_image_is_reported_on_its_line_with_both_readings(root, capsys):
    edit(root / "acme/plain/v1/contract.yaml", "update: {before: {at: /old}, after: {at: /new}}",
         "update: {before: {at: /new}, after: {at: /old}}")  # fmt: skip
    code, out, _ = breaking(capsys)
    lines = out.splitlines()
    number = line_of(root / "acme/plain/v1/contract.yaml", "update: {before")
    assert code == 1
    assert lines[0].startswith(
        f"contracts/acme/plain/v1/contract.yaml:{number}:3: error C401 published-meaning /images/update: "
    )
    reported = dict(re.split("  +", line.strip(), maxsplit=1) for line in lines[1:])
    assert [*reported] == ["contracts", "why", "was at", "message", "published", "now", "fix"]
    assert reported["contracts"] == "acme/plain@1, acme/plain@2"
    assert json.loads(reported["published"])["before"] == json.loads(reported["now"])["after"]


def test_a_version_that_is_gone_is_reported_in_the_nearest_file_that_is_left(root, capsys):
    shutil.rmtree(root / "acme/plain/v2")
    assert findings(capsys)[:2] == (1, [("C403", "error", "contracts/acme/plain/v1/contract.yaml", None)])


def test_a_subject_that_is_gone_is_reported_in_the_nearest_file_that_is_left(root, capsys):
    shutil.copytree(root / "acme/plain", root / "acme/flat")
    for number in (1, 2):
        edit(root / f"acme/flat/v{number}/contract.yaml", "acme/plain", "acme/flat")
    edit(root / "acme/flat/v2/contract.yaml", "based_on: acme/plain", "based_on: acme/flat")
    edit(root / "acme/flat/v1/contract.yaml", "rules: [image-present-for-op, columns-typed]", "rules: [columns-typed]")
    shutil.rmtree(root / "acme/plain")
    code, found, _ = findings(capsys)
    assert (code, found[0]) == (1, ("C404", "error", "contracts/acme/flat/v2/contract.yaml", None))
    assert found[1][:2] == ("C409", "info")


def test_a_copy_of_a_shipped_contract_is_gone_when_it_is_gone(tmp_path, monkeypatch, capsys):
    shutil.copytree(OWN.parents[3] / "contracts" / "dts" / "canal", tmp_path / "contracts" / "dts" / "canal")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "published")
    shutil.rmtree(tmp_path / "contracts/dts/canal/v1")
    monkeypatch.chdir(tmp_path)
    assert findings(capsys)[:2] == (
        1,
        [("C403", "error", f"contracts/dts/canal/v{NEWEST_CANAL[-1]}/contract.yaml", None)],
    )


def test_a_new_version_is_reported_and_breaks_nothing(root, capsys):
    new = root / "acme/plain/v3"
    new.mkdir()
    new.joinpath("contract.yaml").write_text(
        'contract: acme/plain@3\nbased_on: acme/plain@2\napplies: {since: "3.0"}\nstatus: current\n'
        "images: {delete: {before: {at: /new}}}\n"
    )
    code, found, _ = findings(capsys)
    assert (code, found) == (0, [
        ("C408", "info", "contracts/acme/plain/v3/contract.yaml", 1),
        ("C320", "info", "contracts/acme/plain/v3/contract.yaml", 5),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code"), [("contracts/acme/plain/v1", 0), ("contracts/acme/plain/v2", 1), ("contracts/acme/types", 1)]
)
def test_only_what_the_path_names_is_reported(path, code, root, capsys):
    edit(root / "acme/types/acme-two.yaml", "epoch-seconds.fraction: [TIMESTAMP]", "iso-datetime-minutes: [TIMESTAMP]")
    assert breaking(capsys, path)[0] == code


def test_a_comment_ignores_a_break_for_a_while(root, capsys):
    file = root / "acme/types/acme-two.yaml"
    new = f"iso-datetime-minutes: [TIMESTAMP] # cdc-contracts: ignore C401 {UNTIL}"
    edit(file, "epoch-seconds.fraction: [TIMESTAMP]", new)
    code, out, err = breaking(capsys)
    assert (code, out) == (0, "")
    assert err.startswith("2 contracts: no findings, 1 ignored; ")
    edit(file, "2999-12-31", "2020-01-01")
    assert breaking(capsys)[0] == 1


def test_a_new_comment_that_ignores_nothing_is_reported_and_an_old_one_is_not(root, capsys, tmp_path):
    file = root / "acme/types/acme-two.yaml"
    edit(file, "[TIMESTAMP]", f"[TIMESTAMP] # cdc-contracts: ignore C401 {UNTIL}")
    assert findings(capsys)[:2] == (
        0,
        [("L28", "warning", "contracts/acme/types/acme-two.yaml", line_of(file, "TIMESTAMP"))],
    )
    commit(tmp_path, "with the comment")
    assert main(["breaking", "--against", "HEAD"]) == 0
    assert capsys.readouterr().out == ""


def test_every_format_reports_a_break(root, capsys, tmp_path):
    edit(root / "acme/types/acme-two.yaml", "epoch-seconds.fraction: [TIMESTAMP]", "iso-datetime-minutes: [TIMESTAMP]")
    reports = [f"out{ending}" for ending in (".sarif", ".xml", ".md", ".json")]
    code, out, _ = breaking(
        capsys, "--format", "github", *(part for report in reports for part in ("--report", report))
    )
    assert code == 1
    assert out.startswith("::error file=contracts/acme/types/acme-two.yaml,line=")
    assert all("C401" in (tmp_path / report).read_text() for report in reports)


@pytest.mark.parametrize(
    ("against", "code", "reported"),
    [
        ("mian", 2, "git cannot find commit `mian`"),
        ("--upload-pack=x", 2, ""),
        ("./nowhere", 2, "git cannot find commit `./nowhere`"),
        ("contracts/acme", 2, "no contract below contracts/acme"),
        (".git#branch=main,subdir=nowhere", 2, "They are in contracts there"),
    ],
)
def test_what_leads_nowhere_never_passes(against, code, reported, root, capsys):
    assert main(["breaking", f"--against={against}"]) == code
    assert reported in capsys.readouterr().err


def test_without_a_repository_it_could_not_run(tmp_path, capsys):
    root = shutil.copytree(OWN, tmp_path / "contracts")
    assert main(["breaking", str(root), "--against", "main"]) == 3
    assert main(["breaking", str(root), "--against", str(OWN)]) == 0


def test_contracts_that_a_registry_has_are_compared_with(root, capsys, tmp_path):
    pytest.importorskip("uvicorn", reason="a registry is served only with the extra 'server'")
    from registry_servers import serving

    with serving(f"sqlite:///{tmp_path}/registry.db") as url:
        assert main(["breaking", "--against", url]) == 0
        assert "there are no contracts yet in " in capsys.readouterr().err
        assert main(["registry", "push", str(root), "--url", url]) == 0
        assert main(["breaking", "--against", url]) == 0
        capsys.readouterr()
        edit(
            root / "acme/types/acme-two.yaml",
            "epoch-seconds.fraction: [TIMESTAMP]",
            "iso-datetime-minutes: [TIMESTAMP]",
        )
        assert main(["breaking", "--against", url, "--format", "json"]) == 1
    reported = json.loads(capsys.readouterr().out)
    assert [(one["rule"], one["file"], one["contracts"]) for one in reported["findings"]] == [
        ("C401", "contracts/acme/types/acme-two.yaml", ["acme/plain@2"])
    ]
    assert reported["notes"] == [f"compared with {url}"]


def test_a_form_that_only_a_sample_of_the_contract_shows_is_proven_by_it(tmp_path, monkeypatch, capsys):
    """Issue: messages of a draft cannot be generated, and samples were not tried for the form of a column."""
    monkeypatch.chdir(tmp_path)
    rows = [("I", {"id": 1, "n": 4}), ("U", {"id": 1, "n": 5}), ("D", {"id": 1, "n": 5, "name": "Bob Ray"})]
    sent = [
        {"op": op, "tbl": "shop.orders", "ts": 1_760_000_000_000 + at, "row": row} for at, (op, row) in enumerate(rows)
    ]
    Path("orders.jsonl").write_text("".join(json.dumps(one) + "\n" for one in sent))
    assert main(["contract", "new", "shop/plain", "orders.jsonl"]) == 0
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "published")
    edit(tmp_path / "contracts/shop/types/shop-plain.yaml", "text: text", "text: base64")
    capsys.readouterr()
    code, found, reported = findings(capsys)
    sample = json.loads((tmp_path / "contracts/shop/plain/v1/samples/delete-1.json").read_text())
    assert (code, [one[:2] for one in found]) == (1, [("C401", "error")])
    (one,) = reported["findings"]
    assert one["proof"]["message"] == sample
    assert "No message" not in json.dumps(one)
