"""stepgrid plan SPEC: what a run would do, answered from the store without starting Snakemake."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from compiler.cli import compiled
from compiler.plan.model import Plan, PlannedStage
from compiler.run.progress import duration
from compiler.store.store import Store

SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    compiled.arguments(parser)
    parser.add_argument("--all", action="store_true", help=f"list every stage that is to do, not the first {SHOWN}")


def run(args: argparse.Namespace) -> int:
    plan = compiled.compiled(args.spec, args.scale)
    if plan is None:
        return 1
    print("\n".join(told(plan, Store(), None if args.all else SHOWN)))
    return 0


def told(plan: Plan, store: Store, most: int | None) -> Iterator[str]:
    lacking = [stage for stage in plan.stages if store.result(stage.id) is None]
    yield f"{plan.spec}: {plan.title}"
    yield f"  cells     {len(plan.cells):,}"
    yield f"  builds    {_counts(len(plan.builds), sum(not store.has_build(build.id) for build in plan.builds))}"
    for name, is_load in (("loads", True), ("stages", False)):
        total = sum((stage.parent is None) == is_load for stage in plan.stages)
        missing = sum((stage.parent is None) == is_load for stage in lacking)
        yield f"  {name:9} {_counts(total, missing)}"
    yield from _to_do(lacking, most)


def _counts(total: int, missing: int) -> str:
    return f"{total:,}: {total - missing:,} there, {missing:,} to do"


def _to_do(lacking: Iterable[PlannedStage], most: int | None) -> Iterator[str]:
    ordered = sorted(lacking, key=lambda stage: stage.rank)
    if not ordered:
        yield "nothing to measure"
        return
    yield f"to do, in this order, about {duration(sum(stage.seconds for stage in ordered))}:"
    for stage in ordered[:most]:
        yield f"  {stage.id}  {duration(stage.seconds):>6}  {stage.title}"
    if most is not None and len(ordered) > most:
        yield f"  … and {len(ordered) - most:,} more (--all)"
