"""What MkDocs does besides rendering `docs/`: pages made from the code, and links that lead out of the folder.

Generated pages exist in the built site alone, so none can be older than the code that it describes.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jieba
from block_needs import say_needs
from command_pages import command_pages
from decision_index import decision_index
from mkdocs.structure.files import File
from reference_pages import files_page, metrics_page, python_page, report_page, rules_page, settings_page
from served_schemas import served_schemas

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

jieba.setLogLevel(logging.WARNING)  # it divides Chinese into words for the search, and tells how
ROOT: Final = Path(__file__).parents[1]
GENERATED: Final = "GENERATED: "
OF_THE_REPOSITORY: Final = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "bench/README.md": "benchmarks.md",
    "README.zh-CN.md": "index.zh.md",
}
"""Pages that stand elsewhere in the repository, where people and code hosts look for them."""
_CONTRACT_FILE: Final = re.compile(r"\]\(\.\./\.\./(contracts/[^)]+)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of folders into the navigation."""
    config.nav = _with_pages(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated, the pages of the root and the schemas that pages of the catalogue link to."""
    for name, text in generated_pages().items():
        if (placeholder := files.get_file_from_path(name)) is not None:
            files.remove(placeholder)  # what a reader of the repository finds there
        files.append(File.generated(config, name, content=text))
    for source, name in OF_THE_REPOSITORY.items():
        files.append(File.generated(config, name, content=_as_page((ROOT / source).read_text(encoding="utf-8"))))
    for name, text in served_schemas(config.site_url or "").items():
        files.append(File.generated(config, name, content=text))
    pages = (ROOT / "docs/catalogue").glob("*.md")
    linked = {path for page in pages for path in _CONTRACT_FILE.findall(page.read_text(encoding="utf-8"))}
    for path in sorted(linked):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files of the repository lead to their pages in the site, those to contracts to their copies."""
    depth = page.file.src_uri.count("/")
    for source, name in OF_THE_REPOSITORY.items():
        markdown = markdown.replace(f"]({'../' * (depth + 1)}{source})", f"]({'../' * depth}{name})")
    markdown = markdown.replace("](adr/)", "](adr/index.md)")
    markdown = say_needs(markdown, chinese=page.file.src_uri.endswith(".zh.md"))
    return _CONTRACT_FILE.sub(r"](../\1)", markdown) if page.file.src_uri.startswith("catalogue/") else markdown


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Declare the language of pages in Chinese, for browsers and screen readers."""
    return (
        output.replace('<html lang="en"', '<html lang="zh-CN"', 1) if page.file.src_uri.endswith(".zh.md") else output
    )


def generated_pages() -> dict[str, str]:
    """Return the text of each generated page by its path in the site."""
    return {
        **{f"reference/commands/{name}.md": text for name, text in command_pages().items()},
        "reference/rules.md": rules_page(),
        "reference/report.md": report_page(),
        "reference/settings.md": settings_page(),
        "reference/files.md": files_page(),
        "reference/metrics.md": metrics_page(),
        "reference/python.md": python_page(),
        "adr/index.md": decision_index(ROOT / "docs/adr"),
    }


def _with_pages(nav: Any) -> Any:
    """Return a part of the navigation in which `GENERATED: FOLDER` is the list of the folder's pages."""
    if isinstance(nav, list):
        return [_with_pages(one) for one in nav]
    if isinstance(nav, dict):
        return {title: _with_pages(value) for title, value in nav.items()}
    return list(_pages_of(nav.removeprefix(GENERATED))) if nav.startswith(GENERATED) else nav


def _pages_of(folder: str) -> Iterator[str]:
    """Yield the pages of a folder, its index first."""
    if folder == "reference/commands":
        names = sorted(command_pages())
    else:
        names = sorted(path.stem for path in (ROOT / "docs" / folder).glob("*.md"))
        names += [] if "README" in names else ["index"]
    for name in sorted(names, key=lambda name: (name not in {"index", "README"}, name)):
        yield f"{folder}/{name}.md"


def _as_page(text: str) -> str:
    """Return a document of the root as a page of the site, where `docs/` is the root."""
    text = text.replace("](docs/", "](").replace("adr/)", "adr/index.md)")
    text = text.replace("](README.md)", "](index.md)").replace("](bench/)", "](benchmarks.md)")
    for source, name in OF_THE_REPOSITORY.items():
        text = text.replace(f"]({source})", f"]({name})")
    return text
