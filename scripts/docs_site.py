"""Sources of the site, for any engine: `python -m scripts.docs_site FOLDER` writes FOLDER/mkdocs.yml and FOLDER/docs.

Each report of the gallery becomes a page, links to files outside docs/ lead to copies, and blocks of code have titles.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
REPORTS = "gallery/reports"
COPIES = "repository"
NOT_SEARCHED = "---\nsearch: {exclude: true}\n---\n\n"  # a try has every word, and answers no question
REPORT_LINK = re.compile(r"\(([\w-]+)\.txt\)")
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"^(```\w+) (\S.*)$", re.MULTILINE)


def main(folder: Path) -> None:
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not is_empty and not (folder / "mkdocs.yml").is_file():
        raise SystemExit(f"{folder} is there, and is no folder of this script: name another one")
    shutil.rmtree(folder, ignore_errors=True)
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs", docs)
    for schema in (ROOT / "specs").glob("*.schema.json"):  # for editors: specs/catalog.json has its address
        shutil.copy(schema, docs)
    reports = sorted(path.stem for path in GALLERY.glob("*.txt") if "." not in path.stem)
    (docs / REPORTS).mkdir()
    for name in reports:
        (docs / REPORTS / f"{name}.md").write_text(report_page(name), encoding="utf-8")
    for page in sorted(docs.rglob("*.md")):
        page.write_text(plain_page(page.read_text(encoding="utf-8"), page.relative_to(docs), docs), encoding="utf-8")
    yaml = YAML()
    yaml.width = 4096  # a long title is a key, which may not be folded
    config = yaml.load(ROOT / "mkdocs.yml")
    gallery = next(entry for entry in config["nav"] if "Gallery" in entry)
    pages = [{title(name): f"{REPORTS}/{name}.md"} for name in reports]
    others = [
        {"Reproduced": "gallery/reproduced.md"},
        {"Tables of each article": "gallery/articles.md"},
        {"Claims of articles": "gallery/claims.md"},
    ]
    gallery["Gallery"] = [gallery["Gallery"], *others, {"Reports": pages}]
    yaml.dump(config, folder / "mkdocs.yml")


def title(report: str) -> str:
    return (GALLERY / f"{report}.txt").read_text(encoding="utf-8").splitlines()[0]


def report_page(name: str) -> str:
    spec = next(path for path in (f"specs/posts/{name}.yaml", f"specs/{name}.yaml") if (ROOT / path).is_file())
    text = (GALLERY / f"{name}.txt").read_text(encoding="utf-8").rstrip()
    note = f"A try of [`{spec}`](../../../{spec}): not figures to quote ([why](../README.md))."
    return f"{NOT_SEARCHED}# {title(name)}\n\n{note}{charts(name)}\n\n```text\n{text}\n```\n"


def charts(name: str) -> str:
    """Show the first chart; link the page with all of them, which few reports have in the gallery."""
    page = f" The same [with charts](../{name}.html)." if (GALLERY / f"{name}.html").is_file() else ""
    return f"{page}\n\n![The first chart](../{name}.svg)"


def plain_page(text: str, page: Path, docs: Path) -> str:
    if page.parent.name == "gallery":
        text = REPORT_LINK.sub(r"(reports/\1.md)", text)
    parts = FENCED.split(text)
    return "".join(
        FILE_NAME.sub(r'\1 title="\2"', part, count=1)  # else the engines take such a block for text
        if part.startswith("```")
        else LINK.sub(partial(link, page=page, docs=docs), part)
        for part in parts
    )


def link(match: re.Match[str], page: Path, docs: Path) -> str:
    path = os.path.normpath(Path("docs", page).parent / match[2])
    if path.startswith(("docs/", "..")) or not (ROOT / path).is_file():
        return match[0]
    copy = docs / COPIES / f"{path}.txt"  # browsers show text: a spec or a program would be downloaded
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, copy)
    return f"{match[1]}{os.path.relpath(copy, docs / page.parent)}{match[3]}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
