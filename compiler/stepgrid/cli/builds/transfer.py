"""stepgrid builds export and import: a finished build from one machine to another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.cli.builds import BuildsError
from stepgrid.cli.builds.names import SpecIsWrong, find, known
from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.language.site import current_site
from stepgrid.model.number_format import size
from stepgrid.model.units import counted
from stepgrid.store.redo_requests import who
from stepgrid.transfer import signature
from stepgrid.transfer.build_export import export
from stepgrid.transfer.build_import import publish, read
from stepgrid.workflow import host_plan


def exported(args: argparse.Namespace, words: Sequence[str]) -> int:
    name, file = words[0], Path(words[1])
    spec_arguments.wrong_site(args)
    store = host_plan.store()
    try:
        node = find(name, known(args, store), store)
    except SpecIsWrong:
        return PROBLEMS
    if not store.has_build(node):
        raise BuildsError(f"{name} ({node}) is not built yet: `stepgrid builds SPEC --make` makes it")
    if file.exists():
        raise BuildsError(f"{file} is there already: name another file, or remove it")
    try:
        said = export(store.build(node), file)
    except (BuildError, OSError) as error:
        print(_said(error), file=sys.stderr)
        return FAILED
    print(f"{file}: {node}, {counted(len(said['files']), 'file')}, {size(file.stat().st_size)}")
    return FINE


def imported(args: argparse.Namespace, words: Sequence[str]) -> int:
    file = Path(words[0])
    if not file.is_file():
        raise BuildsError(f"there is no file {file}")
    spec_arguments.wrong_site(args)
    store = host_plan.store()
    try:
        if args.spec:
            ids = known(args, store)
            if (node := read(file)["id"]) not in ids:
                there = ", ".join(ids)
                raise BuildsError(f"{file} holds {node}, which is no build of {args.spec}; its builds are: {there}")
        if signers := current_site().signers:
            print(f"signed by {signature.signer(file, signers)}")
        record = publish(store, file, partial(_may_run, file, args.may_run))
    except SpecIsWrong:
        return PROBLEMS
    except (BuildError, OSError) as error:
        print(_said(error), file=sys.stderr)
        return FAILED
    print(f"{store.build(record['id'])}: {record['name']}, {record['engine']} {record['version']}")
    return FINE


def _may_run(file: Path, agreed: bool, record: Mapping[str, Any]) -> bool:
    """Somebody else's programs: who imports them says so, on a terminal or by --run."""
    if agreed:
        return True
    user, names = who(), ", ".join(sorted(record["programs"]))
    print(f"{file} has programs ({names}): importing it runs one as {user} to ask for its version", file=sys.stderr)
    return sys.stdin.isatty() and input("run it? [y/N] ").strip().lower() in ("y", "yes")


def _said(error: BuildError | OSError) -> str:
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
