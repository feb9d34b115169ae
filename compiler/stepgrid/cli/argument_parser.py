"""Options may stand anywhere, also before or between the names of what a command is about."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

_OF_ANOTHER = (argparse.REMAINDER, argparse.PARSER)


class Parser(argparse.ArgumentParser):
    """argparse takes a list of names for empty when an option stands before it: `redo SPEC --load CELL`."""

    _inside = False  # its own way of mixing them asks the plain way twice

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        if self._inside or any(action.nargs in _OF_ANOTHER for action in self._actions):
            return super().parse_known_args(args, namespace)
        self._inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._inside = False
