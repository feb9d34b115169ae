"""stepgrid export SPEC FILE: the results of a spec as one file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from compiler.cli import compiled
from compiler.cli.told import counted
from compiler.language.units import size

FINE, PROBLEMS, USAGE, FAILED = 0, 1, 2, 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("file", type=Path, help="what to write: .tar.gz, or .tar.zst where zstd is there")
    parser.add_argument("--attempts", action="store_true", help="what failed or was interrupted goes along")
    compiled.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    plan = compiled.quietly(args, args.spec)
    if plan is None:
        return PROBLEMS
    from compiler.build.problem import BuildError
    from compiler.run import here
    from compiler.run.exporting import export

    if args.file.exists():
        print(f"{args.file} is there already: name another file, or remove it", file=sys.stderr)
        return USAGE
    try:
        said = export(here.store(), plan, args.file, args.attempts)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    results = [names for names in said["results"].values() if names]
    of = f"{counted(sum(map(len, results)), 'result')} of {len(results)} of {counted(len(plan.stages), 'stage')}"
    print(f"{args.file}: {of}, {counted(len(said['files']), 'file')}, {size(args.file.stat().st_size)}")
    return FINE
