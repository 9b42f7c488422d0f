"""Repairs of the samples in the vendors' documents: each fixes one erratum of the printed text.

A repair works on text, because a number read and written again would lose its digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Siblings = Mapping[str, str]
"""The texts of the same section by name, as printed."""
Without = Literal["unreadable", "refused", "remarked", "told-otherwise", "unseen"]
"""What becomes of a sample that lacks just this repair. What is unseen no validator of a single message can tell."""

STRING = r'"(?:[^"\\]|\\.)*"'


@dataclass(frozen=True)
class Repair:
    erratum: str
    without: Without
    hint: Callable[[str, Siblings], str]

    def __str__(self) -> str:
        return f"{self.erratum}-{self.hint.__name__.replace('_', '-')}"


def repair(erratum: str, *, without: Without) -> Callable[[Callable[[str, Siblings], str]], Repair]:
    return lambda hint: Repair(erratum, without, hint)


def outside_strings(pattern: str, text: str) -> str:
    """Return a text without what matches, save inside of its strings."""
    return re.sub(f"({STRING})|{pattern}", lambda found: found[1] or "", text)


@repair("E2", without="unreadable")
def no_trailing_commas(text, siblings):
    return outside_strings(r",(?=\s*[}\]])", text)


@repair("E3", without="unreadable")
def closed(text, siblings):
    return text + "}"


@repair("E6", without="unreadable")
def no_comment_amid_the_line(text, siblings):
    # The line goes on behind the comment, and the comment itself holds a member.
    return re.sub(r'// This is an example .*? t:123456\}"\.', "", text)


@repair("E7", without="unreadable")
def whole_meta(text, siblings):
    # Own members stay; those cut off are taken from the INSERT.
    meta, member = r'(?<="meta": )\{[^{}]*\}', r'("\w+"): *("[^"]*"|[0-9]+)'
    members = dict(re.findall(member, re.search(meta, siblings["insert"])[0]))
    members |= dict(re.findall(member, re.search(meta, text)[0]))
    return re.sub(meta, "{" + ", ".join(f"{name}: {value}" for name, value in members.items()) + "}", text)


@repair("E8", without="unreadable")
def no_comments(text, siblings):
    return outside_strings(r"//[^\n]*", text)


@repair("E10", without="refused")
def unmasked_position(text, siblings):
    return re.sub(r'("pos":"\d+@\d+)(\*+)"', lambda found: found[1] + "0" * len(found[2]) + '"', text)


@repair("E10", without="unseen")
def unmasked_ids(text, siblings):
    # Ids of transactions and names of tables are any text.
    digits = re.sub(r"(?<=[0-9])x+(?=[0-9_\",])", lambda found: "0" * len(found[0]), text)
    return re.sub(r"(?<=[a-z])\*+", "", digits)


@repair("E11", without="unseen")
def parted_key_values(text, siblings):
    return text.replace('-3129"', r'-3\u0001129"')


@repair("E12", without="unseen")
def even_hex(text, siblings):
    # Without a table contract a column has no type here, and half a pair of digits is text.
    return re.sub(r'"c19":"([0-9A-F]*)"', lambda found: f'"c19":"{found[1]}{"0" if len(found[1]) % 2 else ""}"', text)


@repair("E20", without="unseen")
def column_of_the_insert(text, siblings):
    return text.replace('"col16"', '"col6"')


@repair("E22", without="refused")
def types_by_position(text, siblings):
    message = json.loads(text)
    for image in (message["prevStruct"], message["postStruct"]):
        if image is not None:
            types = image.pop("__light_type")
            text = renamed(text, types, image, r'"{}"(?= ?: ?\{{)')
    return text


@repair("E32", without="refused")
def old_column_of_data(text, siblings):
    return text.replace('"string":', '"col2":')


@repair("E38", without="refused")
def columns_by_position(text, siblings):
    message = json.loads(text)
    image = message["payload"]["after"] or message["payload"]["before"]
    names = [column["name"] for column in message["schema"]["column"]]
    return renamed(text, names, image["data"], r'(?<="name":)"{}"')


@repair("E42", without="remarked")
def data_column_of_key(text, siblings):
    return text.replace('"string":', '"col2":')


@repair("E44", without="told-otherwise")
def update_with_both_images(text, siblings):
    # The sample is a DELETE; the Enterprise document has `u` and both images in its place.
    both = re.sub(r'("before":)(\{[^{}]*\})', r'\1\2,"after":\2', text)
    return both.replace('"op":"d"', '"op":"u"')


@repair("E53", without="unreadable")
def no_comments_amid_the_line(text, siblings):
    # No comment of the Avro samples holds a quote or a bracket, and all that follows one starts with such.
    return outside_strings(r'//[^"{}\[\]]*', text)


def renamed(text, names, columns, pattern):
    for name, column in zip(names, columns, strict=True):
        text = re.sub(pattern.format(name), f'"{column}"', text)
    return text
