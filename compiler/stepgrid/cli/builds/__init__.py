"""stepgrid builds: what there is, what becomes of it, and how two of them differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import USAGE, StepgridError

USAGES = """\
usage: stepgrid builds [SPEC]                   those of a spec, or all that were made here
       stepgrid builds SPEC --make [NAME ...]   makes those that are not there
       stepgrid builds diff A B                 options that differ, with their defaults
       stepgrid builds export NAME FILE         a finished build as one file, .tar.gz or .tar.zst
       stepgrid builds import FILE [--run]      publishes it in this checkout, once all of it is verified; it asks
                                                before it runs a program of the file, which --run allows"""
FORMATS = MappingProxyType({"list": ("text", "json"), "diff": ("text", "json", "csv", "markdown")})

Verb = Callable[[argparse.Namespace, Sequence[str]], int]


class BuildsError(StepgridError):
    """A call that cannot be meant, or a build that there is not: a sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = USAGES.removeprefix("usage: ")
    what = "a spec file, or one of diff, export and import with its arguments"
    parser.add_argument("words", nargs="*", metavar="SPEC", help=what)
    spec_arguments.narrowing(parser)
    parser.add_argument("--make", nargs="*", metavar="NAME", help="make these builds (without a name: all of the spec)")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="number of builds made in parallel (1)")
    parser.add_argument("--spec", metavar="SPEC", help="with diff, export and import: the spec of the named builds")
    parser.add_argument(
        "--run", dest="may_run", action="store_true", help="with import: let the programs of the file run here"
    )
    every = FORMATS["diff"]
    what = "for people, as JSON; of diff also as CSV or a Markdown table"
    parser.add_argument("--format", choices=every, default="text", help=what)


def run(args: argparse.Namespace) -> int:
    try:
        return _verb(args)
    except BuildsError as wrong:
        print(wrong, file=sys.stderr)
        return USAGE


def _verb(args: argparse.Namespace) -> int:
    words: list[str] = args.words
    if words and words[0] in _MOVES:
        module, function, count = _MOVES[words[0]]
        if len(words) != count + 1 or args.make is not None or (args.may_run and words[0] != "import"):
            raise BuildsError(USAGES)
        verb: Verb = getattr(import_module(f"stepgrid.cli.builds.{module}"), function)
        return verb(args, words[1:])
    if len(words) > 1 or args.spec or args.may_run or args.format not in FORMATS["list"]:
        raise BuildsError(USAGES)
    if args.make is not None:
        from stepgrid.cli.builds.make import make

        return make(args, _only(words))
    from stepgrid.cli.builds.listing import listed

    return listed(args, words[0] if words else None)


def _only(words: Sequence[str]) -> str:
    if not words:
        raise BuildsError(f"--make needs a spec, before it: which builds are there to be made?\n{USAGES}")
    return words[0]


# module, function, words that it takes
_MOVES: Mapping[str, tuple[str, str, int]] = MappingProxyType(
    {
        "diff": ("diff", "diff", 2),
        "export": ("transfer", "exported", 2),
        "import": ("transfer", "imported", 1),
    }
)
