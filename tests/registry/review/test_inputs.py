"""What contracts are compared with: every way to write it, and every way in which it leads nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from repositories import commit, git

from cdc_contracts.registry.authoring.review.revisions.revision_inputs import open_base, open_revision
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue

OWN = Path(__file__).parents[1] / "lint" / "contracts"
FILE = "acme/plain/v1/contract.yaml"


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """A repository whose first commit, tagged v1, has contracts; on the branch `change` a file says something else."""
    folder = tmp_path_factory.mktemp("committed")
    shutil.copytree(OWN, folder / "data" / "contracts")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "first")
    git(folder, "tag", "-a", "v1", "-m", "first")
    git(folder, "checkout", "-q", "-b", "change")
    with (folder / "data" / "contracts" / FILE).open("a") as file:
        file.write("# changed\n")
    commit(folder, "second")
    return folder


@pytest.fixture
def repository(tmp_path, committed):
    """A copy of it that a test may change."""
    return shutil.copytree(committed, tmp_path / "repository", symlinks=True)


@pytest.fixture
def root(repository):
    return repository / "data" / "contracts"


def read(revision, name=FILE):
    return revision.root.joinpath(*name.split("/")).read_text(encoding="utf-8")


BEFORE = (OWN / FILE).read_text()
AFTER = BEFORE + "# changed\n"


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("main", BEFORE), ("v1", BEFORE), ("HEAD~1", BEFORE), ("refs/tags/v1", BEFORE), ("change^", BEFORE),
        ("HEAD", AFTER), ("change", AFTER),
    ],
)  # fmt: skip
def test_a_git_ref_is_read_at_the_folder_of_the_contracts(ref, text, root):
    assert read(open_revision(ref, root)) == text


def test_the_id_of_a_commit_is_a_git_ref(repository, root):
    for name in (git(repository, "rev-parse", "main"), git(repository, "rev-parse", "--short", "main")):
        assert read(open_revision(name, root)) == BEFORE


def test_what_is_read_is_a_catalogue_like_any_other(root):
    there, here = Catalogue([open_revision("HEAD", root).root]), Catalogue([root])
    assert [version.reference for version in there.all_versions()] == ["acme/plain@1", "acme/plain@2"]
    assert [one.fingerprint for one in there.all_versions()] == [one.fingerprint for one in here.all_versions()]
    folder = there.version("acme/plain@2").folder
    assert str(folder) == "HEAD:data/contracts/acme/plain/v2"
    assert folder.joinpath("samples", "add.json").read_bytes() == (root / "acme/plain/v2/samples/add.json").read_bytes()


def test_bytes_are_those_of_the_commit_whatever_attributes_say(repository, root):
    (repository / ".gitattributes").write_text("*.yaml export-ignore text eol=crlf\n*.json export-subst\n")
    (root / "acme/plain/v1/samples/add.json").write_text("$Format:%H$\r\n")
    commit(repository, "attributes")
    revision = open_revision("HEAD", root)
    assert read(revision) == AFTER
    assert revision.root.joinpath("acme/plain/v1/samples/add.json").read_bytes() == b"$Format:%H$\r\n"


def test_the_work_tree_is_not_touched(repository, root):
    (root / FILE).write_text("edited")
    (root / "new.txt").write_text("new")
    before = git(repository, "status", "--porcelain")
    assert read(open_revision("main", root)) == BEFORE
    assert (
        git(repository, "status", "--porcelain")
        == before
        == "M data/contracts/acme/plain/v1/contract.yaml\n?? data/contracts/new.txt"
    )
    assert git(repository, "branch", "--show-current") == "change"


def test_the_repository_is_that_of_the_contracts_and_not_of_a_hook_that_runs(root, tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "nowhere")
    assert read(open_revision("main", root)) == BEFORE


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("branch=main", BEFORE), ("tag=v1", BEFORE), ("ref=HEAD~1", BEFORE), ("", AFTER), ("branch=change", AFTER),
        ("branch=main,subdir=data/contracts", BEFORE), ("subdir=data/contracts/,tag=v1", BEFORE),
    ],
)  # fmt: skip
def test_a_repository_is_named_by_its_folder(options, text, repository, root, monkeypatch):
    monkeypatch.chdir(repository)
    assert read(open_revision(f".git#{options}", root)) == text
    assert read(open_revision(f"{repository}/.git#{options}", root)) == text


def test_a_bare_repository_is_one_too(repository, root, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(repository), "mirror.git")
    assert read(open_revision(f"{tmp_path}/mirror.git#branch=main", root)) == BEFORE
    assert read(open_revision(f"{tmp_path}/mirror.git", root)) == AFTER


def test_a_folder_is_read_as_it_is(root, monkeypatch, repository):
    assert open_revision(str(OWN), root).root == OWN
    monkeypatch.chdir(repository / "data")
    assert read(open_revision("./contracts", root)) == AFTER


def test_a_name_of_a_folder_and_of_a_branch_is_not_guessed_at(repository, root, monkeypatch):
    git(repository, "branch", "data", "main")
    monkeypatch.chdir(repository)
    with pytest.raises(UsageError, match=r"a folder and a git ref.*\n.*\./data for the folder, refs/heads/data"):
        open_revision("data", root)
    assert read(open_revision("refs/heads/data", root)) == BEFORE


@pytest.mark.parametrize("ref", ["--output=x", "-", "", "a\nb", "a\0b"])
def test_what_could_be_an_option_is_refused(ref, root):
    with pytest.raises(UsageError, match="is not a git ref"):
        open_revision(ref, root)


@pytest.mark.parametrize("ref", ["; touch x", "$(touch x)", "main:data", "main data", "HEAD@{99}", "mian", "v1^{tree}"])
def test_an_unknown_ref_is_refused_with_what_to_do(ref, root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"git cannot find commit .*\n.*`git fetch` it first"):
        open_revision(ref, root)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "text", [".git#branch=", ".git#bransh=main", ".git#branch=main,tag=v1", ".git#branch=--x", "none.git#branch=main"]
)
def test_a_repository_that_is_not_named_right_is_refused(text, root, repository, monkeypatch):
    monkeypatch.chdir(repository)
    with pytest.raises(UsageError):
        open_revision(text, root)


def test_in_a_shallow_clone_the_error_says_how_to_get_the_rest(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{repository}", "shallow")
    with pytest.raises(UsageError, match=r"fetch --unshallow.*fetch-depth: 0"):
        open_revision("main", tmp_path / "shallow" / "data" / "contracts")
    with pytest.raises(UsageError, match=r"fetch --unshallow.*fetch-depth: 0"):
        open_base(None, tmp_path / "shallow" / "data" / "contracts", {"GITHUB_BASE_REF": "main"})
    git(tmp_path / "shallow", "fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    with pytest.raises(UsageError, match=r"no common ancestor\n.*fetch --unshallow.*fetch-depth: 0"):
        open_base("main", tmp_path / "shallow" / "data" / "contracts", {})


def test_a_branch_that_only_origin_has_is_named(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--branch=change", str(repository), "clone")
    with pytest.raises(UsageError, match="Did you mean origin/main"):
        open_revision("main", tmp_path / "clone" / "data" / "contracts")


def test_without_a_repository_git_says_so(tmp_path):
    root = shutil.copytree(OWN, tmp_path / "contracts")
    with pytest.raises(UnavailableError, match="git failed: not a git repository"):
        open_revision("main", root)


def test_without_git_that_is_said(root, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="git cannot be run"):
        open_revision("main", root)


def test_where_no_contracts_were_yet_nothing_is_published(repository, root):
    git(repository, "checkout", "-q", "--orphan", "empty")
    git(repository, "rm", "-rq", "--cached", ".")
    git(repository, "commit", "-q", "--allow-empty", "-m", "nothing")
    revision = open_revision("empty", root)
    assert revision.root is None
    assert revision.name.startswith("empty (")


def test_contracts_that_were_moved_are_not_taken_for_new_ones(repository):
    git(repository, "mv", "data/contracts", "moved")
    with pytest.raises(
        UsageError,
        match=r"no contracts in moved at main .*\n.*They are in data/contracts there: --against '.*/\.git#ref=main,subdir=data/contracts'",
    ):
        open_revision("main", repository / "moved")
    reported = open_revision(f"{repository}/.git#ref=main,subdir=data/contracts", repository / "moved")
    assert read(reported) == BEFORE


def test_contracts_of_another_folder_that_is_still_there_are_no_move(repository):
    new = shutil.copytree(OWN, repository / "more")
    assert open_revision("main", new).root is None


def test_a_folder_without_contracts_is_refused(root, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no contract below"):
        open_revision(str(tmp_path / "empty"), root)


def test_a_change_began_where_it_left_the_branch_it_is_for(repository, root):
    git(repository, "checkout", "-q", "main")
    (root / FILE).write_text("later")
    commit(repository, "later on main")
    git(repository, "checkout", "-q", "change")
    assert read(open_base("main", root, {})) == BEFORE
    assert read(open_base(None, root, {})) == BEFORE


@pytest.mark.parametrize("name", ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"])
def test_code_hosts_say_which_branch_a_change_is_for(name, repository, tmp_path):
    git(repository, "branch", "release", "change")
    git(tmp_path, "clone", "-q", "--branch=change", str(repository), "clone")
    root = tmp_path / "clone" / "data" / "contracts"
    assert read(open_base(None, root, {name: "release"})) == AFTER
    assert read(open_base(None, root, {name: "main"})) == BEFORE
    assert read(open_base("main", root, {name: "release"})) == BEFORE


def test_else_it_is_for_the_default_branch_of_origin(repository, tmp_path):
    git(repository, "branch", "trunk", "main")
    git(repository, "branch", "-D", "main")
    git(repository, "symbolic-ref", "HEAD", "refs/heads/trunk")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    git(tmp_path / "clone", "checkout", "-q", "change")
    assert read(open_base(None, tmp_path / "clone" / "data" / "contracts", {})) == BEFORE


def test_a_branch_that_is_checked_out_itself_is_reported_as_such(root):
    assert open_base("change", root, {}).name.endswith(", which is checked out")
    assert not open_base("main", root, {}).name.endswith(", which is checked out")


def test_a_base_that_is_nowhere_is_refused(root):
    with pytest.raises(UsageError, match="git cannot find commit `nowhere`"):
        open_base("nowhere", root, {})
