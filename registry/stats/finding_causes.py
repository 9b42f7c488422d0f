"""Finding causes: findings on several columns that come from one change of a table or producer become one finding.

Types that are written in capitals since offset 60 are one change, not one per column and image. Findings belong
together by what they say: the same rule on the same column in another image, or on other columns of the table since the
very same records; and all columns by which a table shows another version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.common.findings import find_cause
from cdc_contracts.registry.validate.drift_rulebook import drift_rules

Document = dict[str, Any]

_MOST_OBSERVED: Final = 10
_SWITCH: Final = re.compile(r"as (\S+) writes ")
_OF_COLUMN: Final = ("rule", "path", "fingerprint", "expected", "observed", "count", "first")
"""What is told of each column of a finding on several."""


def group_by_cause(found: Iterable[tuple[Document, str | None]]) -> list[Document]:
    """Return findings with those of one cause merged; each is given with the column it is about.

    The first of a cause stands for it; what it says of each column is in `columns`.
    """
    single: list[Document] = []
    by_column: dict[tuple[Any, ...], list[Document]] = {}
    for document, column in found:
        if column is None or not _is_per_column(document["rule"]) or not document["count"]:
            single.append(document)
        else:
            by_column.setdefault((*_kind(document), column), []).append(document)
    causes: dict[tuple[Any, ...], list[Document]] = {}
    for key, documents in by_column.items():
        causes.setdefault((*key[:-1], _since(documents)), []).extend(documents)
    return [*single, *(_join(sorted(documents, key=_order)) for documents in causes.values())]


def fingerprints_of(finding: Mapping[str, Any]) -> list[str]:
    """Return the fingerprints of all that a finding stands for, its own first."""
    return list(dict.fromkeys([finding["fingerprint"], *(one["fingerprint"] for one in finding.get("columns", ()))]))


def _is_per_column(rule: str) -> bool:
    """Say whether the findings of a rule are one for each column."""
    cause = find_cause(rule)
    if cause is not None:
        return cause.per_column
    across = drift_rules().get(rule.partition(".")[2])
    return across is not None and across.id == rule and across.per_column


def _kind(document: Document) -> tuple[Any, ...]:
    cause = find_cause(document["rule"])
    rule = document["rule"].partition(".")[0] if cause and cause.of_shapes else document["rule"]
    return rule, document["severity"], document["table"], document["contract"]


def _since(documents: Sequence[Document]) -> tuple[Any, ...]:
    """Return what findings on a column have in common with those on others of the same cause."""
    versions = tuple(_SWITCH.findall(" ".join([documents[0]["expected"], *documents[0]["observed"]])))
    if versions or documents[0]["class"] == "other-version":
        return versions
    firsts: dict[tuple[str, int], int] = {}
    for one in (part for document in documents for part in document["partitions"]):
        place = (one["topic"], one["partition"])
        firsts[place] = min(one["first_offset"], firsts.get(place, one["first_offset"]))
    return tuple(sorted(firsts.items()))


def _join(documents: Sequence[Document]) -> Document:
    head = documents[0]
    if len(documents) == 1:
        return head
    ops = _most(document["ops"] for document in documents)
    onsets = {document["onset"]["kind"] for document in documents}
    images = _by_image(documents)
    return {
        **head,
        "op": next(iter(ops)) if len(ops) == 1 else None,
        "ops": ops,
        "count": _together(images, lambda document: document["count"]),
        "last": max((document["last"] for document in documents), key=_place),
        "partitions": _partitions(images),
        "observed": list(dict.fromkeys(text for one in documents for text in one["observed"]))[:_MOST_OBSERVED],
        "onset": {"kind": onsets.pop(), "since": _sinces(documents)} if len(onsets) == 1 else head["onset"],
        "histogram": _histogram(documents),
        "explained_by": next((one["explained_by"] for one in documents if one["explained_by"]), None),
        "columns": [{name: document[name] for name in _OF_COLUMN} for document in documents],
    }


def _by_image(documents: Sequence[Document]) -> list[list[Document]]:
    """Return the findings by the image that their columns are in."""
    images: dict[str, list[Document]] = {}
    for document in documents:
        images.setdefault(document["path"].rpartition("/")[0], []).append(document)
    return list(images.values())


def _together(images: Sequence[Sequence[Document]], count: Any) -> int:
    """Count records with a finding in some column: the count of the worst column, added up over images of other ops."""
    result = [(set().union(*(one["ops"] for one in image)), max(map(count, image))) for image in images]
    apart = sum(len(ops) for ops, _ in result) == len(set().union(*(ops for ops, _ in result)))
    counts = [most for _, most in result]
    return sum(counts) if apart else max(counts)


def _partitions(images: Sequence[Sequence[Document]]) -> list[Document]:
    held: dict[tuple[str, int], list[Document]] = {}
    for one in (part for image in images for document in image for part in document["partitions"]):
        held.setdefault((one["topic"], one["partition"]), []).append(one)

    def count_in(place: tuple[str, int]) -> Any:
        return lambda document: sum(
            part["count"] for part in document["partitions"] if (part["topic"], part["partition"]) == place
        )

    return [
        {
            "topic": place[0],
            "partition": place[1],
            "count": _together(images, count_in(place)),
            "first_offset": min(part["first_offset"] for part in parts),
            "last_offset": max(part["last_offset"] for part in parts),
        }
        for place, parts in sorted(held.items())
    ]


def _sinces(documents: Sequence[Document]) -> list[Document]:
    """Return since when each partition has a finding on some column without a break."""
    firsts: dict[tuple[str, int], Document] = {}
    for since in sorted((since for document in documents for since in document["onset"]["since"]), key=_place):
        firsts.setdefault((since["topic"], since["partition"]), since)
    return list(firsts.values())


def _most(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    most: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            most[name] = max(count, most.get(name, 0))
    return dict(sorted(most.items()))


def _histogram(documents: Sequence[Document]) -> list[Document]:
    counts = Counter[str]()
    for entry in (entry for document in documents for entry in document["histogram"]):
        counts[entry["observed"]] += entry["count"]
    result = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"observed": text, "count": count} for text, count in result[:_MOST_OBSERVED]]


def _order(document: Document) -> tuple[Any, ...]:
    return (*_place(document["first"]), -document["count"], document["path"])


def _place(moment: Mapping[str, Any]) -> tuple[str, int, int]:
    return moment["topic"], moment["partition"], moment["offset"]
