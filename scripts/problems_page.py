"""docs/problems/README.md: `python -m scripts.problems_page docs/problems > docs/problems/README.md`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_HEAD = re.compile(r"# (\S+)\n\n(Error|Warning): (.+)\.\n")
_INTRODUCTION = """\
# Problems

What `stepgrid check` can report, a page for each code: what it means, why, an example with the message as it is
printed, and the example mended. An error stops; a warning does not. A warning that experience gives (a lint) is
silenced with a reason, in a spec or within a scale: `allow: {step-short: "only to try the spec out"}`.
"""


def index(folder: Path) -> str:
    from stepgrid.lint.spec_rules import all_rules

    lints = {rule.code for rule in all_rules()}
    heads = [head for path in sorted(folder.glob("*.md")) if (head := _HEAD.match(path.read_text(encoding="utf-8")))]
    language = [head for head in heads if head[1] not in lints]
    experience = [head for head in heads if head[1] in lints]
    parts = (("The language", language), ("Experience (lints)", experience))
    return "\n".join([_INTRODUCTION, *(line for title, group in parts for line in _table(title, group))])


def _table(title: str, heads: list[re.Match[str]]) -> Iterator[str]:
    yield from (f"## {title}", "", "| code | | |", "|---|---|---|")
    yield from (f"| [{code}]({code}.md) | {kind.lower()} | {summary} |" for code, kind, summary in map(_groups, heads))
    yield ""


def _groups(head: re.Match[str]) -> tuple[str, str, str]:
    return head[1], head[2], head[3]


if __name__ == "__main__":
    print(index(Path(sys.argv[1])), end="")
