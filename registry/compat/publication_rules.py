"""Publication rules: how a version may change once it is published."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, NOTE

_NEW_VERSION: Final = "Take the change back, and make it in a new version."

MEANING_CHANGED: Final = CompatibilityRule(
    "C401", "published-meaning", BREAKING,
    "A published version says something else than before: whoever pinned it reads the same messages otherwise.",
    _NEW_VERSION,
    "a change of provenance in dts/canal@2", "another value form of a type in dts/canal@2",
)  # fmt: skip
SHAPE_CHANGED: Final = CompatibilityRule(
    "C402", "published-shape", BREAKING,
    "The JSON Schema or Avro schema of a published version takes other messages than before.",
    _NEW_VERSION,
    "another title in envelope.schema.json", "another required member in envelope.schema.json",
)  # fmt: skip
VERSION_REMOVED: Final = CompatibilityRule(
    "C403", "version-removed", BREAKING,
    "A published version is gone: who refers to it finds nothing, and a later one would take its number.",
    "Put it back; `status: legacy` says that nobody should begin with it.",
    "dts/canal@1 with `status: legacy`", "dts/canal/v1 deleted",
)  # fmt: skip
SUBJECT_REMOVED: Final = CompatibilityRule(
    "C404", "subject-removed", BREAKING,
    "A published subject is gone with all its versions: topics that are bound to it have no contract.",
    "Put it back; `status: legacy` says that nobody should begin with it.",
    "dts/canal with `status: legacy`", "dts/canal deleted",
)  # fmt: skip
SUBJECT_RENAMED: Final = CompatibilityRule(
    "C405", "subject-renamed", BREAKING,
    "A published subject has another name: references and bindings by the old one find nothing.",
    "Keep the old name; a subject of the new name may be `based_on` it.",
    "acme/plain stays, and acme/flat is based on it", "acme/plain becomes acme/flat",
)  # fmt: skip
RANGE_MOVED: Final = CompatibilityRule(
    "C406", "range-moved", BREAKING,
    "A published version applies to other releases or dates: references by date lead to another version.",
    "Take it back; only an open range may be closed, when a successor begins where it ends.",
    'until: "3.3.0" in both', 'until: "3.3.0", then until: "3.4.0"',
)  # fmt: skip
RANGE_CLOSED: Final = CompatibilityRule(
    "C407", "range-closed", NOTE,
    "A published version is superseded: its open range has an end now, or it counts as legacy.",
    "Nothing: this is how a successor is announced.",
    "nothing, then status: legacy", "an end that no successor begins at",
)  # fmt: skip
VERSION_ADDED: Final = CompatibilityRule(
    "C408", "version-added", NOTE,
    "A version is new. It is compared with the one before it; what differs follows as notes.",
    "Tell the readers of the subject what changes, before messages of it arrive.",
    "dts/canal@3 beside dts/canal@2", "a change of dts/canal@2 in place",
)  # fmt: skip
SUBJECT_ADDED: Final = CompatibilityRule(
    "C409", "subject-added", NOTE,
    "A subject is new.",
    "Nothing: nobody refers to it yet.",
    "acme/plain is new", "acme/plain takes the folder of another subject",
)  # fmt: skip
SHAPE_REWRITTEN: Final = CompatibilityRule(
    "C410", "shape-rewritten", NOTE,
    "A schema of a published version is written otherwise, and no message was found that it takes otherwise.",
    "Look whether the change is wanted.",
    "members in another order", "a pattern that only a rare message breaks",
)  # fmt: skip

PUBLICATION_RULES: Final = (
    MEANING_CHANGED, SHAPE_CHANGED, VERSION_REMOVED, SUBJECT_REMOVED, SUBJECT_RENAMED, RANGE_MOVED, RANGE_CLOSED,
    VERSION_ADDED, SUBJECT_ADDED, SHAPE_REWRITTEN,
)  # fmt: skip
