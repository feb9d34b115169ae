"""Hooks of mkdocs: links from a page to files outside docs/ lead to copies on the site; blocks of code have titles."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
NAMED = re.compile(r"^(```\w+) (\S.*)$", re.MULTILINE)
COPIES = "repository"
_fenced = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_linked: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """Every file that a page links to: known before the pages are made, so that --strict finds it."""
    for page in list(files.documentation_pages()):
        for match in LINK.finditer(page.content_string):
            path = outside(page.src_uri, match[2])
            if path and path not in _linked:
                _linked[path] = copy(path)
                files.append(File.generated(config, _linked[path], content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    parts = _fenced.split(markdown)
    return "".join(_named(part) if part.startswith("```") else _led(part, page.file.src_uri) for part in parts)


def _named(block: str) -> str:
    """What a block of code is called, behind its language, is its title: mkdocs would take such a block for text."""
    return NAMED.sub(r'\1 title="\2"', block, count=1)


def _led(text: str, page: str) -> str:
    def lead(match: re.Match[str]) -> str:
        path = outside(page, match[2])
        where = os.path.relpath(_linked[path], Path(page).parent) if path in _linked else match[2]
        return f"{match[1]}{where}{match[3]}"

    return LINK.sub(lead, text)


def outside(page: str, link: str) -> str:
    """The path in the repository of a file that is not below docs/; empty for any other link."""
    path = os.path.normpath(Path("docs", page).parent / link)
    return path if not path.startswith(("docs/", "..")) and (ROOT / path).is_file() else ""


def copy(path: str) -> str:
    """Browsers show text: a spec or a program would be downloaded."""
    return f"{COPIES}/{path}.txt"
