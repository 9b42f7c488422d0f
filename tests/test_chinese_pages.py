"""Pages in Chinese are the English ones: the same blocks, links, names of code, headings and tables, in the same order."""

import re
from os.path import normpath, relpath

import pytest
import translations
from markdown.extensions.toc import slugify_unicode
from site_pages import DOCS, ROOT, blocks_of
from translations import changed_sections, originals, record_originals, sections_of

PAIRS = [(english, chinese) for chinese, english in originals().items()]
HAN = re.compile("[\u4e00-\u9fff]")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
each_pair = pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda page: str(page.relative_to(ROOT)))


@each_pair
def test_a_page_in_chinese_translates_the_present_text_of_its_original(english, chinese):
    changed = changed_sections(chinese, english)
    name, page = english.relative_to(ROOT), chinese.relative_to(ROOT)
    assert changed == [], (
        f"{name} was changed after it was translated, in: {'; '.join(changed)}. "
        f"Revise these sections of {page}, then run: {translations.COMMAND} {page}"
    )


@each_pair
def test_commands_files_and_outputs_are_the_same_in_the_same_order(english, chinese):
    def shown(page):
        return [(block.language, block.needs, block.file, block.text) for block in blocks_of(page)]

    assert shown(chinese) == shown(english), f"copy the blocks of {english.name} to {chinese.name} as they are"
    assert len(shown(english)) == english.read_text(encoding="utf-8").count("```") / 2


@each_pair
def test_every_heading_has_its_counterpart_in_chinese(english, chinese):
    assert [one.level for one in sections_of(chinese)] == [one.level for one in sections_of(english)]
    names = {
        one.heading for one in sections_of(english) if re.fullmatch(r"cdc-contracts|Webhook|OpenLineage", one.heading)
    }
    assert {one.heading for one in sections_of(chinese) if not HAN.search(one.heading)} <= names


@each_pair
def test_each_section_has_the_same_links(english, chinese):
    assert chinese.name in links_of(english)[0]
    expected = [sorted(counterpart(link, english, chinese) for link in links) for links in links_of(english)]
    assert links_of(chinese) == expected


def links_of(page):
    return [sorted(re.findall(r"\]\(([^)]+)\)", section.text)) for section in sections_of(page)]


def counterpart(link, english, chinese):
    """The link that a page in Chinese has where its original has this one: to a page in Chinese, if there is one."""
    if link == chinese.name:
        return english.name
    path, _, fragment = link.partition("#")
    target = ROOT / normpath(english.parent / path) if path else english
    other = next((one for original, one in PAIRS if original == target), None)
    if other is None or ":" in path:
        return link
    path = relpath(other, chinese.parent) if path else path
    return f"{path}#{dict(zip(anchors_of(target), anchors_of(other), strict=True))[fragment]}" if fragment else path


def anchors_of(page):
    return [slugify_unicode(section.heading.replace("`", ""), "-") for section in sections_of(page)]


@each_pair
def test_each_section_names_the_same_commands_options_and_files(english, chinese):
    def names(page):
        found = (re.findall(r"`([^`]+)`", section.text) for section in sections_of(page))
        return [sorted(" ".join(name.split()) for name in one) for one in found]

    assert names(chinese) == names(english)


@each_pair
def test_tables_have_the_same_rows_and_lists_the_same_items(english, chinese):
    def rows(page):
        return [(len(re.findall(r"^\|.*\|$", one.text, re.MULTILINE)), len(re.findall(r"^\* ", one.text, re.MULTILINE)))
                for one in sections_of(page)]  # fmt: skip

    assert rows(chinese) == rows(english)


@each_pair
def test_numbers_are_the_same(english, chinese):
    def numbers(page):
        texts = (re.sub(r"\]\([^)]+\)", "", f"{one.heading}\n{one.text}") for one in sections_of(page))
        return [sorted(re.findall(r"\d+(?:\.\d+)?", text)) for text in texts]

    assert numbers(chinese) == numbers(english)


@each_pair
def test_a_paragraph_in_chinese_is_one_line_as_browsers_show_a_line_break_as_a_space(english, chinese):
    broken = re.compile(r"[\u4e00-\u9fff\uff0c\u3002\uff1b\uff1a\u3001\uff09]\n *(?=[\u4e00-\u9fff])")
    assert broken.findall(chinese.read_text(encoding="utf-8")) == []


@each_pair
def test_punctuation_next_to_chinese_is_full_width(english, chinese):
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", "", BLOCK.sub("", chinese.read_text(encoding="utf-8")))
    assert re.findall(r"[\u4e00-\u9fff][,:;?!()]|[,:;?!()][\u4e00-\u9fff]", prose) == []


def test_every_guide_is_linked_from_the_list_in_chinese_in_the_language_of_the_reader():
    listed = set(re.findall(r"\]\(([^)#]+)\)", (DOCS / "how-to/index.zh.md").read_text(encoding="utf-8")))
    assert {page.name for page in DOCS.glob("how-to/*.zh.md")} - {"index.zh.md"} <= listed


ORIGINAL = (
    "# Detect\n\nIt reads 2,000 messages.\n\n## Exit codes\n\nOne: drift.\n\n```sh\ncdc-contracts detect a\n```\n"
)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("reads 2,000", "reads 3,000", ["Detect"]),
        ("One: drift.", "One: findings.", ["Exit codes"]),
        ("## Exit codes", "## Codes", ["Codes"]),
        ("One: drift.", "One: drift.\n\n## Next\n\nAudit.", ["Next"]),
        ("# Detect\n\nIt reads 2,000 messages.\n\n#", "", ["Exit codes"]),
        ("reads 2,000", "reads\n2,000", []),  # only a line break
        ("detect a", "detect b", []),  # blocks are compared as they are
    ],
)
def test_a_change_of_the_original_is_named_until_it_is_recorded(tmp_path, monkeypatch, before, after, changed):
    english, chinese = tmp_path / "detect.md", tmp_path / "detect.zh.md"
    monkeypatch.setattr(translations, "originals", lambda: {chinese: english})
    english.write_text(ORIGINAL)
    chinese.write_text("# 识别\n")
    assert changed_sections(chinese, english) == ["Detect", "Exit codes"]
    record_originals([chinese])
    assert changed_sections(chinese, english) == []
    english.write_text(ORIGINAL.replace(before, after))
    assert changed_sections(chinese, english) == changed
    record_originals([chinese])
    assert changed_sections(chinese, english) == []
    assert chinese.read_text().count("translates:") == 1


def test_sections_that_change_places_are_a_change(tmp_path, monkeypatch):
    english, chinese = tmp_path / "a.md", tmp_path / "a.zh.md"
    monkeypatch.setattr(translations, "originals", lambda: {chinese: english})
    english.write_text("# A\n\n## B\n\n## C\n")
    chinese.write_text("# 甲\n")
    record_originals([chinese])
    english.write_text("# A\n\n## C\n\n## B\n")
    assert changed_sections(chinese, english) == ["the order or number of sections"]
