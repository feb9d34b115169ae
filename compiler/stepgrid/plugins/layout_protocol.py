"""What a layout is: the figures that it shows, how a table that says no more is arranged, what makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stepgrid.model.table import Table
from stepgrid.plugins.layout import Block

STEP = "step"
RANGE = "range"  # of microbenchmarks: a part of their published names
ARMS = "*arms"  # all axes that vary and stand nowhere else
BASE = "*base"  # those of the base


@dataclass(frozen=True, slots=True)
class Layout:
    title: str
    tables: Callable[[Block], Sequence[Table]]
    rows: tuple[str, ...] = (ARMS,)
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = (STEP,)
    metrics: tuple[str, ...] = ()  # figures that it is about: without any of them there is nothing to show
    levels: bool = False  # likewise, of the levels of an LSM tree
    times: bool = False  # and of the histograms of latencies
    compares: bool = False  # needs a base
    own_metrics: bool = False  # a table may name others
    sizes: bool = False  # it tells of the database as it was before what is measured, and at the end
