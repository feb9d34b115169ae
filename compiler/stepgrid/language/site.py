"""Local facts of a machine, for every spec that runs there, and the files that a spec may read. Never part of an id."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.language.problems import Problems, SpecError
from stepgrid.model.site import Site
from stepgrid.package import SPECS

if TYPE_CHECKING:
    from stepgrid.language.yaml import Text

VARIABLE = "STEPGRID_SITE"  # names the site file; empty = there is none
DEFAULT = "site.yaml"  # in the folder that holds outputs/
OUTSIDE_HINT = "copy it there, or list a folder that holds it under `roots` in the site file"


def choose_site_file(argument: str | None) -> str | None:
    """Return the absolute path of the site file: the argument, else the environment's, else an existing default."""
    name = os.environ.get(VARIABLE) if argument is None else argument
    if name is None and os.path.lexists(DEFAULT):
        name = DEFAULT
    return str(Path(name).absolute()) if name else None


def read_site(path: str, problems: Problems) -> Site:
    """Read a site file; its faults are among the problems."""
    from stepgrid.language import site_file  # with pydantic, which jobs without a site file do not need

    return site_file.read(path, problems)


def current_site() -> Site:
    """Read the site that this process was started with; SpecError and OSError for a wrong file."""
    path = os.environ.get(VARIABLE)
    if not path:
        return Site()
    status = Path(path).stat()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _read(path: str, *_: int) -> Site:
    """Read the file as it is now."""
    problems = Problems()
    site = read_site(path, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return site


def may_read(path: str, spec: str) -> bool:
    """Decide if a spec may read a file: below its own folder, in the shipped library, or below the site's `roots`.

    The target of a link counts: `secret.patch -> /etc/shadow` is outside."""
    if "\0" in path:
        return True  # no file has such a name, which is reported when it is opened
    real = os.path.realpath(path)
    folders = [os.path.realpath(folder) for folder in (str(Path(spec).parent), str(SPECS), *current_site().roots)]
    return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in folders)


def check_may_read(path: str, spec: str, name: Text, problems: Problems) -> bool:
    """Report a file that a spec may not read, where it is named."""
    allowed = may_read(path, spec)
    if not allowed:
        problems.add("file-outside", name.where, outside_message(path), OUTSIDE_HINT, len(name))
    return allowed


def outside_message(path: str) -> str:
    return f"the file `{path}` is outside the spec's folder"
