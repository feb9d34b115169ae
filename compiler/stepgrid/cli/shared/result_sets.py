"""What a person names to compare: a spec, a stored plan, either of them at some date, or a file of exported results."""

from __future__ import annotations

import argparse
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.result_arguments import MEANT
from stepgrid.collect.job import collect
from stepgrid.errors import StepgridError
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan
from stepgrid.model.status import Status
from stepgrid.plan.files import plan_file
from stepgrid.store import plans
from stepgrid.store.past_store import PastStore, moment
from stepgrid.store.store import Store
from stepgrid.summarize.refresh import current
from stepgrid.summarize.side_by_side import result_set
from stepgrid.summarize.side_by_side.result_set import ResultSet
from stepgrid.transfer import bundle, result_import
from stepgrid.workflow import host_plan

_DIGEST = re.compile(r"[0-9a-f]{6,20}")
SHOWN = 8  # letters of a plan's digest


class UnknownResults(StepgridError):
    """There are none of that name."""


class Located(NamedTuple):
    """Results whose tables are made."""

    store: Store
    plan: Plan
    name: str


class _Asked(NamedTuple):
    plan: Plan
    name: str


def read(args: argparse.Namespace, text: str, kept: ExitStack) -> ResultSet | None:
    """None after problems were printed; `kept` holds what is made for it, until it is not needed any more."""
    found = located(args, text, kept)
    return None if found is None else result_set.stored(found.store, found.plan.digest, found.name)


def located(args: argparse.Namespace, text: str, kept: ExitStack) -> Located | None:
    name, _, date = text.rpartition("@") if "@" in text and not Path(text).exists() else (text, "", "")
    if not date and (file := Path(name)).is_file() and file.suffix not in (".yaml", ".yml"):
        return _bundle(file, kept)
    until = moment(date) if date else None
    if date and until is None:
        raise UnknownResults(f"`{date}` is no date: write it as 2026-11-20, or 2026-11-20T18:30 (UTC)")
    asked = _plan(args, name)
    if asked is None:
        return None
    store = host_plan.store()
    if until is not None:
        return _past(store, asked, until, date, kept)
    current(store, asked.plan)
    return Located(store, *asked)


def _bundle(file: Path, kept: ExitStack) -> Located:
    """Of its own: its results do not join those that are here."""
    store = Store(_folder(kept))
    try:
        if not result_import.is_one(bundle.head(file, "result")):
            raise UnknownResults(f"{file} holds a build, not results")
        plan = result_import.publish(store, file).plan
    except BuildError as error:
        raise UnknownResults(str(error)) from None
    collect(store, plan)
    return Located(store, plan, file.stem)


def _folder(kept: ExitStack) -> Path:
    return Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="stepgrid-compare-")))


def _plan(args: argparse.Namespace, name: str) -> _Asked | None:
    if Path(name).suffix in (".yaml", ".yml"):
        found = spec_arguments.quietly(args, name)
        return None if found is None else _Asked(found, Path(name).stem)
    store = host_plan.store()
    known = {each.digest: each for each in plans.stored(store)}
    meant = [digest for digest in known if _DIGEST.fullmatch(name) and digest.startswith(name)]
    if len(meant) != 1:
        few = f"several plans begin with `{name}`" if meant else f"there is no plan, spec or file `{name}`"
        hint = nearest(name, known) if _DIGEST.fullmatch(name) else f"wanted: {MEANT}"
        raise UnknownResults(f"{few}: {hint}")
    return _Asked(plan_file.read(known[meant[0]].folder), meant[0][:SHOWN])


def _past(store: Store, asked: _Asked, until: str, date: str, kept: ExitStack) -> Located:
    """The plan that its spec had then, else the one that it has now: its stages may have been measured for others."""
    past = PastStore(store, until, _folder(kept))
    before = [each for each in plans.stored(store) if (each.spec, each.scale) == (asked.plan.spec, asked.plan.scale)]
    then = [each for each in sorted(before, key=lambda each: each.made) if plans.name_of(each.made) <= f"{until}~"]
    candidates = [*(each.digest for each in reversed(then)), asked.plan.digest]
    for plan in (plan_file.read(store.plan(digest)) for digest in candidates if store.has_plan(digest)):
        if any(each.status is Status.DONE for each in collect(past, plan).values() if not each.is_build):
            return Located(past, plan, date)
    raise UnknownResults(f"nothing of {asked.plan.spec or asked.name} was measured until {date}")
