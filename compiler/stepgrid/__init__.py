"""stepgrid: a declarative compiler for database-engine benchmarks, steps x grid."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from stepgrid.model.version import __version__ as __version__

if TYPE_CHECKING:
    from stepgrid.api import Experiment


def load(
    spec: str | PathLike[str], *, scale: str | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Experiment:
    """The experiment that a spec describes (docs/api.md); `scale`, `only`, `sets` are the options of the commands."""
    from stepgrid.api import Experiment

    return Experiment(str(spec), scale, only, tuple(sets))
