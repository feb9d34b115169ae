"""One experiment of a site: what its entry says, and the files that lie behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath

from stepgrid.model.plan import is_imported
from stepgrid.summarize.page import answer, host, origin
from stepgrid.summarize.page.answer import Answer
from stepgrid.summarize.report import Report

MOST_SENTENCES = 3  # sentences of an entry
NOT_PUBLISHED = ("environment.parquet", "history.parquet")  # they name the host and its paths
LETTERS = 8  # of a plan's digest, where two experiments would have one name


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class Experiment:
    folder: str  # in the site
    report: Report
    tables: Path  # where they are now

    @cached_property
    def answers(self) -> list[Answer]:
        """The heaviest, in the order of the page."""
        found = list(answer.answers(self.report))
        heaviest = sorted(range(len(found)), key=lambda at: found[at].weight, reverse=True)[:MOST_SENTENCES]
        return [found[at] for at in sorted(heaviest)]

    @property
    def changes(self) -> list[str]:
        return [text for each in self.report.comparisons.ladders if each.changes for text in each.sentences]

    @property
    def measured(self) -> str:
        return origin.measured(self.report)

    @property
    def updated(self) -> datetime | None:
        return self.report.setup.measured[1] if self.report.setup.measured else None

    @property
    def host(self) -> str:
        """As the page says it: its name stays out."""
        return host.line(self.report.setup.hardware, self.report.data.facts.get("host", {}))

    @property
    def made_from(self) -> str:
        return origin.line(self.report)

    @property
    def parquet(self) -> list[str]:
        return sorted(path.name for path in self.tables.glob("*.parquet") if path.name not in NOT_PUBLISHED)


def folders(reports: list[Report]) -> list[str]:
    """A name for each: of its spec and scale; of several that come to one name also of the plan, then with a number."""
    names = [_name(each) for each in reports]
    plans = [
        name if names.count(name) == 1 else f"{name}-{each.setup.plan[:LETTERS]}"
        for name, each in zip(names, reports, strict=True)
    ]
    return [name if at == plans.index(name) else f"{name}-{at + 1}" for at, name in enumerate(plans)]


def _name(report: Report) -> str:
    spec = report.setup.title if is_imported(report.setup.spec) else PurePath(report.setup.spec).stem
    words = re.findall(r"[a-z0-9.]+", f"{spec} {report.setup.scale or ''}".lower())
    return "-".join(islice(words, 8)) or report.setup.plan[:LETTERS]
