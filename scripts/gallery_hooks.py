"""Hooks of mkdocs: each report of the gallery is a page of the site, under Gallery in the navigation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
REPORTS = "gallery/reports"
PART = "per-operation"  # a table that is too long for its summary: it is named after that, and has no page of its own
TEXT = re.compile(r"\(([\w-]+)\.txt\)")


def on_config(config: Any) -> Any:
    entry = next(each for each in config.nav if "Gallery" in each)
    reports = [{title(name): f"{REPORTS}/{name}.md"} for name in names()]
    entry["Gallery"] = [entry["Gallery"], {"What became of each table": "gallery/articles.md"}, {"Reports": reports}]
    return config


def on_files(files: Any, config: Any) -> Any:
    for name in names():
        files.append(File.generated(config, f"{REPORTS}/{name}.md", content=page(name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """On the site a link to a text leads to its page."""
    return TEXT.sub(r"(reports/\1.md)", markdown) if page.file.src_uri.startswith("gallery/") else markdown


def names() -> list[str]:
    """Of the experiments, as their articles appeared."""
    return sorted(path.stem for path in GALLERY.glob("*.txt") if PART not in path.name)


def title(name: str) -> str:
    return (GALLERY / f"{name}.txt").read_text(encoding="utf-8").splitlines()[0]


def page(name: str) -> str:
    text = (GALLERY / f"{name}.txt").read_text(encoding="utf-8").rstrip()
    return f"# {title(name)}\n\n{spec(name)}{charts(name)}\n\n```text\n{text}\n```\n"


def spec(name: str) -> str:
    path = next(each for each in (f"specs/posts/{name}.yaml", f"specs/{name}.yaml") if (ROOT / each).is_file())
    return f"A try of [`{path}`](../../../{path}): not figures to quote ([why](../README.md))."


def charts(name: str) -> str:
    """Of the few whose page with charts is kept too."""
    if not (GALLERY / f"{name}.html").is_file():
        return ""
    picture = f"\n\n[![How the page with charts begins](../{name}.png)](../{name}.html)"
    return f" The same [with charts](../{name}.html).{picture if (GALLERY / f'{name}.png').is_file() else ''}"
