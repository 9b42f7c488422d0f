"""Pages in Chinese are the English ones: the same blocks, links, names of code, headings and tables, in the same order."""

import re

import pytest
from site_pages import DOCS, ROOT, blocks_of

PAIRS = [
    (ROOT / "README.md", ROOT / "README.zh-CN.md"),
    (DOCS / "first-steps.md", DOCS / "first-steps.zh.md"),
]
HAN = re.compile("[\u4e00-\u9fff]")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
each_pair = pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda page: page.name)


def sections(page):
    """The sections of a page: level of the heading, its text, and the prose below it."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    parts = re.split(r"^(#+) (.*)\n", prose, flags=re.MULTILINE)
    return list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))


@each_pair
def test_commands_files_and_outputs_are_the_same_in_the_same_order(english, chinese):
    def shown(page):
        return [(block.language, block.needs, block.file, block.text) for block in blocks_of(page)]

    assert shown(english)
    assert shown(chinese) == shown(english)


@each_pair
def test_every_heading_has_its_counterpart_in_chinese(english, chinese):
    assert [level for level, _, _ in sections(chinese)] == [level for level, _, _ in sections(english)]
    headings = [heading for _, heading, _ in sections(chinese)]
    assert [heading for heading in headings if not HAN.search(heading)] in ([], ["cdc-contracts"])


@each_pair
def test_each_section_has_the_same_links(english, chinese):
    counterparts = {chinese.name: english.name, "docs/first-steps.md": "docs/first-steps.zh.md"}
    expected = [sorted(counterparts.get(link, link) for link in links) for links in links_of(english)]
    assert chinese.name in links_of(english)[0]
    assert links_of(chinese) == expected


def links_of(page):
    return [sorted(re.findall(r"\]\(([^)]+)\)", prose)) for _, _, prose in sections(page)]


@each_pair
def test_each_section_names_the_same_commands_options_and_files(english, chinese):
    def names(page):
        return [sorted(re.findall(r"`([^`\n]+)`", prose)) for _, _, prose in sections(page)]

    assert names(chinese) == names(english)


@each_pair
def test_tables_have_the_same_rows_and_lists_the_same_items(english, chinese):
    def rows(page):
        return [(len(re.findall(r"^\|.*\|$", prose, re.MULTILINE)), len(re.findall(r"^\* ", prose, re.MULTILINE)))
                for _, _, prose in sections(page)]  # fmt: skip

    assert rows(chinese) == rows(english)


@each_pair
def test_numbers_are_the_same(english, chinese):
    def numbers(page):
        return [
            sorted(re.findall(r"\d+(?:\.\d+)?", re.sub(r"\]\([^)]+\)", "", prose))) for _, _, prose in sections(page)
        ]

    assert numbers(chinese) == numbers(english)


@each_pair
def test_a_paragraph_in_chinese_is_one_line_as_browsers_show_a_line_break_as_a_space(english, chinese):
    broken = re.compile(r"[\u4e00-\u9fff\uff0c\u3002\uff1b\uff1a\u3001\uff09]\n(?=[\u4e00-\u9fff])")
    assert broken.findall(chinese.read_text(encoding="utf-8")) == []


@each_pair
def test_punctuation_next_to_chinese_is_full_width(english, chinese):
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", "", BLOCK.sub("", chinese.read_text(encoding="utf-8")))
    assert re.findall(r"[\u4e00-\u9fff][,:;?!()]|[,:;?!()][\u4e00-\u9fff]", prose) == []
