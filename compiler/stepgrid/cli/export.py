"""stepgrid export SPEC FILE: the results of a spec as one file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.build.error import BuildError
from stepgrid.cli.shared import output_file, spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.language.files import record_inputs
from stepgrid.language.site import VARIABLE
from stepgrid.model.number_format import size
from stepgrid.model.units import counted
from stepgrid.transfer import bundle, host_privacy, result_export, signature
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.language.files import InputRecord
    from stepgrid.model.plan import Plan
    from stepgrid.store.store import Store

SHOWN = 8  # variables that are named


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("file", type=Path, help="the file to write: .tar.gz, or .tar.zst where zstd is installed")
    parser.add_argument("--attempts", action="store_true", help="also failed and interrupted attempts")
    parser.add_argument("--sign", metavar="KEY", type=Path, help="sign it with a key of ssh, into FILE.sig")
    parser.add_argument("--host", action="store_true", help="also the names of hosts, and HOME, PATH … of commands")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    with record_inputs() as seen:
        plan = spec_arguments.quietly(args, args.spec)
    if plan is None:
        return PROBLEMS
    there = f"{args.file} is there already: name another file, or remove it" if args.file.exists() else None
    if wrong := there or output_file.nowhere(args.file):
        print(wrong, file=sys.stderr)
        return USAGE
    try:
        said = _export(args, host_plan.store(), plan, seen)
        signed = signature.sign(args.file, args.sign) if args.sign else None
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    _tell(args, plan, said)
    if skipped := said["skipped"]:
        more = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        print(f"  left out: {skipped[0]}{more}, which a step put there: no file, and no link to one beside it")
    if signed:
        print(f"  signed: {signed} goes along with it")
    print("\n".join(_hosts(host_privacy.host_facts(host_plan.store(), plan), args.host)))
    return FINE


def _hosts(found: host_privacy.HostFacts, named: bool) -> Iterator[str]:
    """Whoever publishes the file publishes this."""
    private = [name for name in found.variables if name in host_privacy.PRIVATE]
    shown = found.variables if named else [name for name in found.variables if name not in private]
    names = f"host{'s' if len(found.names) > 1 else ''} {', '.join(found.names)}"
    if found.names and named:
        yield f"  it names the {names}"
    elif found.names or private:
        left = [f"the name of the {names}"] if found.names else []
        yield f"  left out: {', '.join([*left, *private])}; `--host` exports them"
    if shown:
        more = ", …" if len(shown) > SHOWN else ""
        yield f"  it has variables of the environment of commands: {', '.join(shown[:SHOWN])}{more}"


def _export(args: argparse.Namespace, store: Store, plan: Plan, seen: InputRecord) -> Mapping[str, Any]:
    bundle.check_name(args.file)
    if result_export.has_results(store, plan):
        _summarized(store, plan)
    texts = result_export.of(seen, os.environ.get(VARIABLE)) or result_export.kept(store.texts(plan.digest))
    return result_export.export(store, plan, args.file, args.attempts, texts, args.host)


def _summarized(store: Store, plan: Plan) -> None:
    """The tables and the page that go along say what the results say."""
    from stepgrid.summarize.refresh import current

    with suppress(OSError):  # of a store that cannot be written: those that there are
        current(store, plan)


def _tell(args: argparse.Namespace, plan: Plan, said: Mapping[str, Any]) -> None:
    results = [names for names in said["results"].values() if names]
    of = f"{counted(sum(map(len, results)), 'result')} of {len(results)} of {counted(len(plan.stages), 'stage')}"
    print(f"{args.file}: {of}, {counted(len(said['files']), 'file')}, {size(args.file.stat().st_size)}")
