"""Local facts of a machine, for every spec that runs there. Never part of what a spec means."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from stepgrid.language.problems import Problems, SpecError
from stepgrid.model.site import Site

GIVEN = "STEPGRID_SITE"  # the variable that names the file; empty = there is none
DEFAULT = "site.yaml"  # in the folder that holds outputs/


def chosen(given: str | None) -> str | None:
    """The file that counts, absolute: the given one, else the environment's, else the default if it is there."""
    named = os.environ.get(GIVEN) if given is None else given
    if named is None and os.path.lexists(DEFAULT):
        named = DEFAULT
    return str(Path(named).absolute()) if named else None


def read(path: str, problems: Problems) -> Site:
    """What a site file says; what is wrong with it is among the problems."""
    from stepgrid.language.site import site_models

    return site_models.read(path, problems)


def of_environment() -> Site:
    """The one that this process was started with; SpecError and OSError say what is wrong with its file."""
    path = os.environ.get(GIVEN)
    if not path:
        return Site()
    status = Path(path).stat()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _read(path: str, *_: int) -> Site:
    """As the file is now."""
    problems = Problems()
    site = read(path, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return site
