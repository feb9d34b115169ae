"""stepgrid: a declarative compiler for database-engine benchmarks, steps x grid."""

from __future__ import annotations

from stepgrid import errors

errors.silence_interrupts()  # before anything else is imported

# isort: split
from collections.abc import Sequence  # noqa: E402
from os import PathLike  # noqa: E402
from typing import TYPE_CHECKING  # noqa: E402

from stepgrid.package import __version__ as __version__  # noqa: E402

if TYPE_CHECKING:
    from stepgrid.api import Experiment


def load(
    spec: str | PathLike[str], *, scale: str | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Experiment:
    """Compile the experiment of a spec (docs/reference/api.md); `scale`, `only`, `sets` as on the command line."""
    from stepgrid.api import Experiment

    return Experiment(str(spec), scale, only, tuple(sets))
