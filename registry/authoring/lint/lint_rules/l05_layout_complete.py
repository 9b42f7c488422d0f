import re
from importlib.resources.abc import Traversable
from typing import Final

from cdc_contracts.registry.authoring.lint.lint_documents import OWN_FILES
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_targets import Target
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import (
    AVRO_ENVELOPE,
    ENVELOPE,
    RESERVED,
    Version,
    folders_in,
    system_folders,
)
from cdc_contracts.registry.core.contract.sample_folders import PACKED_SAMPLES, SAMPLES, open_samples

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_VERSION: Final = re.compile(r"v[1-9][0-9]*\Z")
_ORIGINS: Final = {
    ENVELOPE: ", with the members of a message (`contract new` drafts it)",
    AVRO_ENVELOPE: ", with the members of envelope.schema.json as an Avro record (`contract new` drafts it; "
    "`schema --write` writes message.avsc from it)",
}
_SAMPLE_FOLDERS: Final = ("drift", "tables")


@lint_rule(
    ERROR,
    says="Checks that versions are numbered from 1 without a gap, and that their folders hold only contract documents.",
    why="References and `based_on` rely on version numbers; a stray file is usually a sample that is never checked.",
    good="v1, v2, v3",
    bad="v1, v3",
)
def folders_are_complete(run: LintRun) -> Faults:
    for target in run.targets.contracts:
        for system in system_folders(target.root):
            for dialect in folders_in(system):
                yield from _misnamed(target, system, dialect)
    for version in run.versions:
        before = version.number - 1
        if before > 0 and before not in {one.number for one in run.catalogue.versions(version.subject)}:
            yield LintFault(version.folder, f"v{before} before it", "no such version")
        yield from _incomplete(run, version)
        meaning = run.meanings.get(version.reference)
        yield from _unreferenced_files(version, meaning.avro.schemas if meaning and meaning.avro else ())


def _misnamed(target: Target, system: Traversable, dialect: Traversable) -> Faults:
    for folder in [] if dialect.name == RESERVED else folders_in(dialect):
        if target.covers(system.name, dialect.name, folder.name) and not _VERSION.match(folder.name):
            yield LintFault(folder, "vN, a version number from 1", folder.name)
    for folder in (system, dialect):
        if target.covers(system.name, dialect.name) and not _NAME.match(folder.name):
            yield LintFault(folder, "lower-case letters, digits and -", folder.name)


def _incomplete(run: LintRun, version: Version) -> Faults:
    if not version.folder.joinpath("contract.yaml").is_file():
        yield LintFault(version.folder, "a contract.yaml", "none")
    elif version.reference in run.resolved:
        for name in (ENVELOPE, AVRO_ENVELOPE):
            if version.file(name) is None:
                yield LintFault(
                    version.folder, f"an {name}, its own or inherited from its base{_ORIGINS[name]}", "none"
                )


def _unreferenced_files(version: Version, schemas: tuple[str, ...]) -> Faults:
    named = (*OWN_FILES, *schemas)
    if not version.folder.joinpath(SAMPLES).is_dir():
        named = (*named, PACKED_SAMPLES)
    for entry in version.folder.iterdir():
        known = entry.name == SAMPLES if entry.is_dir() else entry.name in named or entry.name.endswith(".md")
        if not known and not entry.name.startswith("."):
            yield LintFault(entry, "a document of a contract, or samples/", entry.name)
    samples = open_samples(version)
    for entry in samples.iterdir() if samples.is_dir() else ():
        if entry.is_dir() and entry.name not in _SAMPLE_FOLDERS:
            yield LintFault(entry, "drift/ or tables/", entry.name)
