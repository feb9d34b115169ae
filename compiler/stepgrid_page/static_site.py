"""stepgrid site: an index of experiments, for each its page, picture, tables and text, and a feed."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

from stepgrid.cli.failures import ending_with
from stepgrid.cli.report import locate_results
from stepgrid.cli.spec_arguments import RESULTS_HELP, add_narrowing, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host.files import make_folder, write_text
from stepgrid.model import units
from stepgrid.model.plan import BUILD, Plan, is_imported
from stepgrid.model.table import group
from stepgrid.model.units import counted
from stepgrid.package import __version__
from stepgrid.plugins.registry import MEMORIES
from stepgrid.store import plans
from stepgrid.store.paths import SUMMARY_TEXT
from stepgrid.store.store import PastStore, Store
from stepgrid.summarize import summary_text
from stepgrid.summarize.arms import Arm, arms
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report
from stepgrid.summarize.report_formats import FormOptions, NoForm
from stepgrid.summarize.setup import host_line
from stepgrid.summarize.statistics.verdicts import BAD, GOOD
from stepgrid.workflow import host_plan
from stepgrid_page import html_page, report_charts
from stepgrid_page.drawing import PageMarks
from stepgrid_page.folders import check_folder, fill_folder
from stepgrid_page.step_charts import Chart

INDEX, FEED, TABLES, HISTORIES = "index.html", "feed.xml", "tables", "history"
PICTURE, IMAGE = "chart.svg", "chart.png"  # of an experiment; the second for sites that link to it
NOT_PUBLISHED = ("environment.parquet", "history.parquet")  # they name the host and its paths
MOST_STEPS = 4  # that a line of a release names
NEVER = datetime.min.replace(tzinfo=UTC)
LETTERS = 8  # of a plan's digest, where two experiments would have one name


class SiteEntry(Struct, frozen=True, dict=True):  # no slots: cached_property needs a dict
    """An entry of the index, and the files behind it."""

    folder: str  # in the site
    report: Report
    tables: Path  # where they are now

    @cached_property
    def chart(self) -> Chart | None:
        return report_charts.main_chart(self.report, PageMarks())

    @property
    def changes(self) -> list[str]:
        return [text for ladder in self.report.comparisons.ladders if ladder.changes for text in ladder.sentences]

    @property
    def updated(self) -> datetime | None:
        measured = self.report.setup.measured  # UTC
        return measured[1].replace(tzinfo=UTC) if measured else None

    @property
    def host(self) -> str:
        """Describe the host without its name."""
        return host_line(self.report.setup.hardware, self.report.data.facts.get("host", {}))

    @property
    def parquet(self) -> list[str]:
        return sorted(path.name for path in self.tables.glob("*.parquet") if path.name not in NOT_PUBLISHED)


class HistoryEntry(Struct, frozen=True):
    """A change of a series, for the feed."""

    id: str
    title: str
    text: str
    updated: datetime


class FeedChange(NamedTuple):
    change: HistoryEntry
    page: str
    updated: datetime


class History(Struct, frozen=True):
    """The page of the series of a spec, and their changes."""

    name: str  # in the site, without an ending
    title: str
    page: str
    changes: tuple[HistoryEntry, ...] = ()


@runtime_checkable
class SiteMemory(Protocol):
    """A memory of reports whose series a site has pages of."""

    def histories(self, store: Store, plans: Sequence[Plan]) -> Sequence[History]:
        """List the series of the specs and scales of some plans, and of no other."""


def add_site_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="a new or empty folder, or an earlier site")
    parser.add_argument("results", metavar="RESULTS", nargs="*", help=f"{RESULTS_HELP} (the newest plan of each spec)")
    parser.add_argument("--title", default="Experiments", help="title of the site (Experiments)")
    parser.add_argument("--url", help="address of the published site, for links of its feed and for pictures")
    add_narrowing(parser)


def run_site(args: argparse.Namespace) -> int:
    use_site(args)
    names = args.results or _newest_plans(host_plan.store())
    with ExitStack() as temporary_folders, ending_with(FAILED, NoForm, OSError):
        check_folder(args.folder)
        located = [locate_results(args, name, temporary_folders) for name in names]
        reports = [read_report(results.store, results.plan.digest) for results in located]
        experiments = [
            SiteEntry(name, report, results.store.tables(results.plan.digest))
            for name, report, results in zip(folder_names(reports), reports, located, strict=True)
        ]
        store = host_plan.store()
        published = [
            results.plan
            for results in located
            if results.store.root == store.root and not isinstance(results.store, PastStore)
        ]
        memories = map(MEMORIES.get, MEMORIES.names())
        makers = [memory for memory in memories if isinstance(memory, SiteMemory)]
        histories = [history for maker in makers for history in maker.histories(store, published)]
        write(args.folder, args.title, args.url, experiments, histories)
    print(f"{counted(len(experiments), 'experiment')}: {args.folder / INDEX}")
    return FINE


def _newest_plans(store: Store) -> list[str]:
    """List the newest plan of each spec and scale, without those of which nothing is measured."""
    newest = {(plan.spec, plan.scale): plan for plan in plans.stored_plans(store)}
    digests = []
    for plan in newest.values():
        if any(store.result(stage) for stage in plans.stage_ids(plan.folder)):
            digests.append(plan.digest)
    return digests


def folder_names(reports: Sequence[Report]) -> list[str]:
    """Name each report by its spec and scale; of several with one name add the plan, then a number."""
    names = [_name(report) for report in reports]
    plans = [
        f"{name}-{report.setup.plan[:LETTERS]}" if [*names, INDEX, FEED, HISTORIES].count(name) > 1 else name
        for name, report in zip(names, reports, strict=True)
    ]
    return [name if index == plans.index(name) else f"{name}-{index + 1}" for index, name in enumerate(plans)]


def _name(report: Report) -> str:
    setup = report.setup
    spec = setup.title if is_imported(setup.spec) else PurePath(setup.spec).stem
    words = re.findall(r"[a-z0-9.]+", f"{spec} {setup.scale or ''}".lower())
    return "-".join(islice(words, 8)) or setup.plan[:LETTERS]


def write(
    folder: Path, title: str, url: str | None, experiments: Sequence[SiteEntry], histories: Sequence[History] = ()
) -> None:
    """Write a site in place of an earlier one, the index last: what it names is there."""
    fill_folder(folder, lambda staged: _write_site(staged, title, url, experiments, histories))


def release_lines(experiments: Sequence[SiteEntry]) -> list[str]:
    """Say of each release that several machines measured on how many it is slower or faster, and in which steps.

    Experiments come newest first: of a machine with several results that is the one that counts."""
    by_release: dict[tuple[str, str, str, str], dict[str, Arm]] = {}
    for experiment in experiments:
        setup, facts = experiment.report.setup, experiment.report.data.facts.get("host", {})
        machine = ", ".join(sorted({host.get("hostname", "") for host in facts.values()})) or experiment.host
        for comparison in experiment.report.comparisons.leading:
            for arm in arms(comparison) if comparison.layout.across == (BUILD,) and comparison.metric.better else ():
                key = setup.title, _name(experiment.report), arm.name, comparison.base
                if arm.compared:
                    by_release.setdefault(key, {}).setdefault(machine, arm)
    return [
        f"{name} against {base}: {_outcomes(list(machines.values()))}"
        for (_, _, name, base), machines in by_release.items()
        if len(machines) > 1
    ]


def _outcomes(machines: Sequence[Arm]) -> str:
    texts = []
    for words in (BAD, GOOD):
        cases = [arm.of(*words) for arm in machines if arm.of(*words)]
        if cases:
            steps = dict.fromkeys(case.row.step for members in cases for case in members)
            named = ", ".join(units.first([*steps], MOST_STEPS))
            texts.append(f"{cases[0][0].word} on {len(cases)} of {counted(len(machines), 'machine')} ({named})")
    return "; ".join(texts) or f"no difference shown on {len(machines)} machines"


def _write_site(
    folder: Path, title: str, url: str | None, experiments: Sequence[SiteEntry], histories: Sequence[History]
) -> None:
    address = url and url.rstrip("/")
    for experiment in experiments:
        _write_experiment(folder / experiment.folder, experiment, address)
    newest_first = sorted(experiments, key=lambda experiment: experiment.updated or NEVER, reverse=True)
    hosts = group((experiment.host, experiment) for experiment in experiments)
    for history in histories:
        make_folder(folder / HISTORIES)
        write_text(folder / HISTORIES / f"{history.name}.html", history.page)
    values: dict[str, object] = {"title": title, "url": address, "experiments": newest_first, "histories": histories}
    values["releases"] = release_lines(newest_first)
    feed: list[Any] = [experiment for experiment in experiments if experiment.updated]
    feed += [FeedChange(change, f"{HISTORIES}/{history.name}.html", change.updated) for history in histories
             for change in history.changes]  # fmt: skip
    feed.sort(key=lambda entry: entry.updated, reverse=True)
    write_text(folder / FEED, _render("feed.xml.j2", {**values, "feed": feed, "now": datetime.now(UTC)}))
    write_text(folder / INDEX, _render("index.html.j2", {**values, "hosts": hosts}))


def _write_experiment(folder: Path, experiment: SiteEntry, address: str | None) -> None:
    make_folder(folder / TABLES)
    for name in experiment.parquet:
        shutil.copyfile(experiment.tables / name, folder / TABLES / name)
    write_text(folder / SUMMARY_TEXT, summary_text.text(experiment.report, None))
    image = ""
    if chart := experiment.chart:
        (folder / PICTURE).write_bytes(report_charts.draw_svg(chart))
        if address and report_charts.find_browser():
            (folder / IMAGE).write_bytes(report_charts.draw_png(chart))
            image = f"{address}/{experiment.folder}/{IMAGE}"
    write_text(folder / INDEX, html_page.page(experiment.report, FormOptions(alone=False), image))


def _render(name: str, values: Mapping[str, object]) -> str:
    words = {"index": INDEX, "tables": TABLES, "history_folder": HISTORIES, "version": __version__}
    return html_page.render(name, {**values, **words}, "site", script=False)
