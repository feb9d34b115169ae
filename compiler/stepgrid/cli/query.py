"""stepgrid query [SQL]: asks the tables of a plan; without SQL, says which tables and columns there are."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from stepgrid.cli.shared import output_file, row_output, spec_arguments
from stepgrid.errors import FINE, PROBLEMS, USAGE
from stepgrid.host.files import replacing
from stepgrid.plan.files import plan_file
from stepgrid.store.store import Store
from stepgrid.summarize.formats.text import aligned
from stepgrid.workflow import host_plan

PARQUET = "parquet"
FORMATS = (*row_output.FORMATS, PARQUET)
ALL = "SELECT * FROM columns"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sql", nargs="?", help='such as "SELECT step, build, qps FROM steps"; none: lists the tables')
    parser.add_argument("--spec", help="the plan of this spec (default: the one collected last)")
    parser.add_argument("--plan", metavar="ID", help="a plan by its digest or a prefix of it, for an imported plan")
    parser.add_argument("--format", choices=FORMATS, help="default: by the suffix of FILE, otherwise table")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to write")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    args.format = args.format or output_file.format_of(args.output, FORMATS, "table")
    if wrong := _wrong_use(args):
        print(wrong, file=sys.stderr)
        return USAGE
    folder = _tables(args)
    if folder is None:
        return PROBLEMS
    from stepgrid.collect.query import NoTables, QueryError

    try:
        _answer(args, folder)
    except (QueryError, NoTables, OSError) as wrong:
        print(wrong, file=sys.stderr)
        return USAGE
    return FINE


def _wrong_use(args: argparse.Namespace) -> str | None:
    if args.output is not None:
        return output_file.nowhere(args.output)
    return "--format parquet needs -o FILE" if args.format == PARQUET else None


def _answer(args: argparse.Namespace, folder: Path) -> None:
    from stepgrid.collect import query

    sql = args.sql if args.sql is not None else ALL
    if args.format == PARQUET:
        with replacing(args.output) as new:
            query.answer_to_parquet(folder, sql, new)
        return
    if args.sql is None and args.format == "table":
        text = "".join(f"{line}\n" for line in _listed(folder))
    else:
        found = query.answer(folder, sql)
        text = row_output.formatted(args.format, found.names, found.rows)
    if args.output is None:
        sys.stdout.write(text)
        return
    with replacing(args.output) as new:
        new.write_text(text, encoding="utf-8")


def _tables(args: argparse.Namespace) -> Path | None:
    """None once it is said why there are none."""
    store = host_plan.store()
    if args.plan is not None:
        return _of_plan(store, args.plan)
    if args.spec is None:
        newest = _newest(store)
        if newest is None:
            print(f"nothing was collected yet under {store.root}: `stepgrid run SPEC` does it", file=sys.stderr)
        return newest
    plan = spec_arguments.quietly(args, args.spec)
    if plan is None:
        return None
    if not any(store.results(stage.id) for stage in plan.stages):
        command = shlex.join(["stepgrid", "run", *spec_arguments.narrowing_of(args)])
        print(f"{args.spec} has no results yet: `{command}` measures", file=sys.stderr)
        return None
    from stepgrid.summarize.refresh import current_tables

    return current_tables(store, plan)


def _of_plan(store: Store, given: str) -> Path | None:
    """Its tables are made here where there are none: neither the spec nor its builds are needed for that."""
    plans = sorted(path.name for path in store.plan("_").parent.glob("*") if store.has_plan(path.name))
    found = [name for name in plans if name.startswith(given)]
    if len(found) != 1:
        what = f"several plans begin with {given}: {', '.join(found)}" if found else f"there is no plan {given}"
        print(f"{what} under {store.root}/plans", file=sys.stderr)
        return None
    folder = store.tables(found[0])
    if not (folder / "steps.parquet").is_file():
        from stepgrid.collect.job import collect

        collect(store, plan_file.read(store.plan(found[0])))
    return folder


def _newest(store: Store) -> Path | None:
    found = list(store.summary("_").parent.glob("*/tables/steps.parquet"))
    return max(found, key=lambda path: path.stat().st_mtime).parent if found else None


def _listed(folder: Path) -> Iterator[str]:
    """Tables with their rows, columns with their meaning; metrics that no step has are left to `columns`."""
    from stepgrid.collect import query

    known = query.answer(folder, f"{ALL} WHERE table_name <> 'columns'").rows
    for table in dict.fromkeys(row[0] for row in known):
        counts = query.answer(folder, f"SELECT count(*), count(COLUMNS(*)) FROM {table}").rows[0]
        columns = [row[1:] for row in known if row[0] == table]
        yield f"{table}: {counts[0]:,} rows"
        shown = [column for column, filled in zip(columns, counts[1:], strict=True) if filled or not counts[0]]
        yield from aligned([(name, unit or kind.lower(), meaning or "") for name, kind, unit, meaning in shown])
        if len(shown) < len(columns):
            yield f"  … and {len(columns) - len(shown)} columns without a value"
