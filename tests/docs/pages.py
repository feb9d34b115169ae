"""The pages that people read, their links and code blocks."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OTHERS = (ROOT / "specs/README.md", ROOT / "outputs/README.md")
TEXTS = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "packages").rglob("*.md"), *OTHERS])
FENCE = re.compile(r"^```([\w-]*) ?([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(NamedTuple):
    page: Path
    language: str
    text: str
    file: str = ""  # a name behind the language: a file that readers write

    def __str__(self):
        return f"{name(self.page)}:{self.text.strip().splitlines()[0][:40]}"


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page, *languages):
    """Of these languages; of all, where none is named."""
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match[1] in languages or not languages:
            yield Block(page, match[1], match[3], match[2])


def write_files(page, folder):
    """Write the files that a page shows."""
    for block in blocks(page):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def links(page):
    return LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


def anchors(page):
    """Of its headings, as GitHub and mkdocs make them."""
    found = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in found}
