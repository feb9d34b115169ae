"""A folder that any web server, or none, can show: an index, a page for each experiment, its tables, a feed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepgrid.host.files import make_folder, write_text
from stepgrid.package import TEMPLATES, __version__
from stepgrid.store.paths import SUMMARY_TEXT
from stepgrid.summarize.page import content_policy, html, summary_text
from stepgrid.summarize.site.experiment import Experiment

SITE_MARK = ".stepgrid-site"  # in a folder that is a site: what is in it may be replaced
INDEX, FEED, TABLES = "index.html", "feed.xml", "tables"


class NotASite(Exception):
    """A folder that has something else in it."""


def write(folder: Path, title: str, url: str | None, experiments: Sequence[Experiment]) -> None:
    """The index comes last: what it names is there. What an earlier site had and this one lacks is removed."""
    claim(folder)
    for each in experiments:
        _experiment(folder / each.folder, each)
    _remove_others(folder, {each.folder for each in experiments})
    said = {"title": title, "url": url and url.rstrip("/"), "experiments": _newest_first(experiments)}
    write_text(folder / FEED, _rendered("feed.xml.j2", {**said, "now": datetime.now(UTC)}))
    write_text(folder / INDEX, _rendered("index.html.j2", {**said, "hosts": _hosts(experiments)}))


def claim(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / SITE_MARK).is_file())):
        raise NotASite(f"{folder} is no site, and not empty: nothing is written over it")
    make_folder(folder)
    (folder / SITE_MARK).touch()


def _experiment(folder: Path, each: Experiment) -> None:
    make_folder(folder / TABLES)
    for old in set(_names(folder / TABLES)) - set(each.parquet):
        (folder / TABLES / old).unlink()
    for name in each.parquet:
        shutil.copyfile(each.tables / name, folder / TABLES / name)
    write_text(folder / SUMMARY_TEXT, summary_text.text(each.report, None))
    write_text(folder / INDEX, html.page(each.report))


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Only what a site makes: folders that begin with a page of ours."""
    for each in folder.iterdir():
        if each.is_dir() and each.name not in kept and (each / SUMMARY_TEXT).is_file() and (each / TABLES).is_dir():
            shutil.rmtree(each)


def _newest_first(experiments: Sequence[Experiment]) -> list[Experiment]:
    return sorted(experiments, key=lambda each: each.updated or datetime.min, reverse=True)


def _hosts(experiments: Sequence[Experiment]) -> Mapping[str, list[Experiment]]:
    found: dict[str, list[Experiment]] = {}
    for each in experiments:
        found.setdefault(each.host, []).append(each)
    return found


def _rendered(name: str, said: Mapping[str, Any]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([TEMPLATES / "site", TEMPLATES / "report"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quoted"] = html.quoted
    own = content_policy.context(TEMPLATES / "report", script=False)
    return environment.get_template(name).render(**said, **own, index=INDEX, tables=TABLES, version=__version__)
