"""stepgrid completion SHELL: what the shell evaluates to complete our commands, options and names with Tab."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence

from argcomplete import autocomplete
from argcomplete.completers import BaseCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

SHELLS = ("bash", "zsh", "fish")
SPEC = ("yaml", "yml")


def arguments(parser: argparse.ArgumentParser) -> None:
    what = 'in ~/.bashrc: eval "$(stepgrid completion bash)"; fish: stepgrid completion fish | source'
    parser.add_argument("shell", choices=SHELLS, help=what)


def run(args: argparse.Namespace) -> int:
    print(shellcode(["stepgrid"], shell=args.shell))
    return 0


def typed() -> list[str]:
    """The words after `stepgrid`, so far."""
    return os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])].split()[1:]


def complete(parser: argparse.ArgumentParser) -> None:
    """Answers the shell, and ends the process."""
    autocomplete(parser, default_completer=_Values())


class _Values(BaseCompleter):
    """Of what argparse has no list of."""

    def __call__(self, *, prefix: str, action: argparse.Action, **_: object) -> Iterable[str]:
        words = typed()
        if words[: -1 if prefix else None][-1:] == ["--scale"]:  # after `run SPEC` options are left to Snakemake's
            return _scales(words)
        if action.dest == "engine":
            from stepgrid.cli.new import engines

            return engines()
        return FilesCompleter(SPEC if action.dest in ("spec", "specs") else ())(prefix)


def _scales(words: Sequence[str]) -> Iterable[str]:
    from stepgrid.language.problems import Problems
    from stepgrid.language.yaml import Map, load

    spec = next((load(word, Problems()) for word in words if word.endswith(SPEC)), None)
    scales = spec.get("scales") if spec else None
    return list(scales) if isinstance(scales, Map) else ()
