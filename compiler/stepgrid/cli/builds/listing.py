"""stepgrid builds [SPEC]: the builds that there are, or that a spec needs, and what each is."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.cli.builds.names import declared, of_plan, value_text
from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.plan_text import WIDTH
from stepgrid.model.number_format import seconds, size
from stepgrid.model.plan import Plan
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.plugins.engine import release_numbers
from stepgrid.store import builds
from stepgrid.store.builds import StoredBuild
from stepgrid.store.store import Store
from stepgrid.summarize.formats.text import wrapped
from stepgrid.workflow import host_plan

INDENT = 13


@dataclass(frozen=True, slots=True)
class Entry:
    names: Sequence[str]
    engine: str
    source: Mapping[str, Any]
    recipe: Mapping[str, Any]  # flags, patches, extensions
    version: str  # as the binary says it, else as the spec does
    kept: StoredBuild
    specs: Sequence[str]


def listed(args: argparse.Namespace, spec: str | None) -> int:
    plan = None
    if spec is None:
        spec_arguments.wrong_site(args)
    else:
        plan = spec_arguments.quietly(args, spec)
        if plan is None:
            return 1
    store = host_plan.store()
    found = _of_plan(store, plan) if plan else _of_store(store)
    if args.format == "json":
        from stepgrid.summarize.formats import json_text

        print(json_text.text([to_json(entry) for entry in found]))
    else:
        print("\n".join(told(found, plan.spec if plan else str(store.build("_").parent))))
    return 0


def _of_plan(store: Store, plan: Plan) -> list[Entry]:
    names, planned = of_plan(plan), builds.planned(store)
    found = []
    for build in plan.builds:
        kept = builds.kept(store, build.id)
        version = str(kept.record.get("version") or build.version)
        others = sorted(planned.get(build.id, builds.PlannedUse()).specs - {plan.spec})
        found.append(Entry(names[build.id], build.engine, build.source, build.recipe, version, kept, others))
    return _sorted(found)


def _of_store(store: Store) -> list[Entry]:
    planned, found = builds.planned(store), []
    for node in builds.ids(store):
        kept, named = builds.kept(store, node), planned.get(node, builds.PlannedUse())
        said = {**named.build, **kept.record}
        names = [str(said.get("name") or node)]
        version, source = str(said.get("version") or ""), said.get("source") or {}
        recipe = said.get("declared", {}).get("recipe") or said.get("recipe") or {}
        declares = recipe if isinstance(recipe, Mapping) else {}  # of a build that is made: the recipe's name
        found.append(Entry(names, str(said.get("engine") or ""), source, declares, version, kept, sorted(named.specs)))
    return _sorted(found)


def _sorted(found: Sequence[Entry]) -> list[Entry]:
    """As people count: 9.10 comes after 9.9."""
    return sorted(
        found, key=lambda entry: (entry.engine, release_numbers(entry.version), entry.names[0], entry.kept.id)
    )


def told(found: Sequence[Entry], where: str) -> Iterator[str]:
    counts = Counter(entry.kept.status for entry in found)
    statuses = ", ".join(f"{counts[status]:,} {status}" for status in Status if counts[status])
    space = sum(entry.kept.bytes or 0 for entry in found)
    disk = f"; {size(space)}" if space else ""
    yield f"{where}: {counted(len(found), 'build')}{f': {statuses}' if found else ''}{disk}"
    for entry in found:
        yield ""
        yield from _told(entry)


def _told(entry: Entry) -> Iterator[str]:
    kept = entry.kept
    disk = "" if kept.bytes is None else size(kept.bytes)
    parts = (kept.status, f"{entry.engine} {entry.version}".strip(), disk)
    yield from _wrapped(", ".join(entry.names), ", ".join(part for part in parts if part), 0)
    yield from _wrapped("  id", kept.id)
    yield from _wrapped("  from", declared(entry.source))
    yield from _wrapped("  with", added(entry.recipe))
    yield from _wrapped("  obtained", obtained(kept.record))
    yield from _wrapped("  quality", quality(kept.record.get("quality") or {}))
    yield from _wrapped("  warning", "; ".join(kept.record.get("warnings") or ()))
    yield from _wrapped("  why", kept.why)
    yield from _wrapped("  log", str(kept.log) if kept.log and kept.status is not Status.DONE else "")
    yield from _wrapped("  specs", ", ".join(entry.specs))


def _wrapped(name: str, text: str, indent: int = INDENT) -> Iterator[str]:
    """A row of its own kind; nothing without a text."""
    if not text:
        return
    head = f"{name:{indent}}" if indent else f"{name}: "
    yield from wrapped(text, head, " " * (indent or 4), WIDTH)


def added(recipe: Mapping[str, Any]) -> str:
    """patches: slower.patch; flags: system: make, march: haswell"""
    said = {**recipe, "patches": [Path(str(patch["path"])).name for patch in recipe.get("patches") or ()]}
    parts = (f"{name}: {value_text(value).strip('()')}" for name, value in said.items() if value)
    return "; ".join(parts)


def obtained(record: Mapping[str, Any]) -> str:
    """The program's own artifact comes first."""
    artifacts = record.get("artifacts") or ()
    named = [f"{first.get('name', '')} {first.get('version', '')}".strip() for first in artifacts[:1]]
    more = [f"{counted(len(artifacts) - 1, 'artifact')} more"] if len(artifacts) > 1 else []
    commit = (record.get("facts") or {}).get("commit")
    parts = [*named, *([f"commit {commit[:12]}"] if commit else []), *more]
    if record:
        took, made = record.get("seconds"), record.get("made", "")[:10]
        said = (record.get("recipe") or record.get("route"), None if took is None else seconds(took), made)
        parts += [", ".join(each for each in said if each)]
    return "; ".join(part for part in parts if part)


def quality(said: Mapping[str, Any]) -> str:
    from stepgrid.summarize.comparisons.build_quality import words

    return "; ".join(f"{name} {value}" for name, value in words(said))


def to_json(entry: Entry) -> dict[str, Any]:
    kept = entry.kept
    own = ("route", "recipe", "artifacts", "facts", "quality", "warnings", "assertions", "seconds", "made")
    return {
        "id": kept.id,
        "names": list(entry.names),
        "state": kept.status,
        "engine": entry.engine,
        "version": entry.version,
        "source": dict(entry.source),
        "declared": dict(entry.recipe),
        "bytes": kept.bytes,
        **{name: kept.record.get(name) for name in own},
        "why": kept.why or None,
        "log": None if kept.log is None else str(kept.log),
        "specs": list(entry.specs),
    }
