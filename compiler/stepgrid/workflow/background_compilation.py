"""A spec compiled by a process of its own, while this one imports Snakemake: each takes a third of a second."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from stepgrid.host.processes.parent_death import die_with_parent

_TO_DO, _SOMETHING_TO_SAY = 0, 1


@dataclass(slots=True)
class Ahead:
    to_do: bool = False  # known at the end: there is work, and nothing else is to be said before it starts


@contextmanager
def worked_out(config: Mapping[str, Any]) -> Iterator[Ahead]:
    """Afterwards the plan is in the store, where `work_of` finds it; what is wrong with it `work_of` will say."""
    follow = die_with_parent()
    child, found = os.fork(), Ahead()
    if not child:
        status = _SOMETHING_TO_SAY
        try:
            follow()
            status = _silently(config)
        finally:
            os._exit(status)
    try:
        yield found
    finally:
        with suppress(ChildProcessError):
            found.to_do = os.waitpid(child, 0)[1] == _TO_DO


def _silently(config: Mapping[str, Any]) -> int:
    from stepgrid.workflow.run_request import work_of

    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    with suppress(Exception):
        return _SOMETHING_TO_SAY if work_of(config).is_over else _TO_DO
    return _SOMETHING_TO_SAY
