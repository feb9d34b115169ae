"""A site of two experiments, one of them a ladder of versions."""

from __future__ import annotations

from pathlib import Path

from stepgrid.summarize import static_site
from stepgrid.summarize.report import Report
from stepgrid.summarize.static_site import Experiment as Entry
from stepgrid.summarize.static_site import folder_names
from tests.summarize import scenario
from tests.summarize.comparisons import made_ladder
from tests.summarize.synthetic import Experiment

TITLE = "What we measured"


def entries(root: Path) -> list[Entry]:
    sides: list[tuple[Report, Path]] = []
    made = scenario.experiment(root / "caches")
    sides.append((scenario.report(made), made.store.tables(made.plan.digest)))
    ladder = made_ladder.measured(root / "ladder", made_ladder.RATES)
    tables = Experiment(root / "ladder", builds=made_ladder.BUILDS).store.tables("p-synthetic")
    sides.append((scenario.altered(ladder, title="A ladder", spec="specs/ladder.yaml", scale="smoke"), tables))
    names = folder_names([report for report, _ in sides])
    return [Entry(name, report, tables) for name, (report, tables) in zip(names, sides, strict=True)]


def site(root: Path, folder: Path) -> list[Entry]:
    found = entries(root)
    static_site.write(folder, TITLE, "https://bench.example/", found)
    return found
