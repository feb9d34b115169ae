"""A spec compiled for this host: the one place where planning meets the machine."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.language.site import VARIABLE, choose_site_file, current_site, read_site
from stepgrid.model.site import Site

if TYPE_CHECKING:
    from stepgrid.expand.hardware import Differs
    from stepgrid.language.problems import Problem, Problems
    from stepgrid.model.plan import Plan
    from stepgrid.store.store import Store


def named(spec: str) -> str:
    """The same file is the same name: a path below the current folder is relative to it."""
    path = Path(spec)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def compiled(
    spec: str, scale: str | None, problems: Problems | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Plan:
    """SpecError holds everything that is wrong with the spec."""
    from stepgrid.build.pins import pin
    from stepgrid.language.files import reuse_checksums
    from stepgrid.plan.compilation import compile_spec
    from stepgrid.store.builds import made
    from stepgrid.store.contents import chosen_id
    from stepgrid.store.load_requests import of_store

    here = store()
    facts, known, kept = host(here), partial(made, here), partial(chosen_id, here)
    differs = differing(current_site(), facts)
    with reuse_checksums(here.checksums()):
        return compile_spec(named(spec), scale, facts, pin, problems, only, sets, differs, known, kept, of_store(here))


def use(given: str | None) -> Sequence[Problem]:
    """From here on this process, and every job that it starts, goes by this site file; what is wrong with it.

    A wrong one is not used at all, so that what else is wrong is found too.
    """
    from stepgrid.language.problems import Problems

    problems = Problems()
    path = choose_site_file(given)
    if path is not None:
        read_site(named(path), problems)
    if path is not None or given is not None:
        os.environ[VARIABLE] = "" if path is None or problems.errors else path
    return problems.items


OUTPUTS = "outputs"


def results_elsewhere(folder: Path | None = None) -> str | None:
    """Say where results are, in a current folder that has none: above it, or in `folder` (that of a spec) or above."""
    if os.path.lexists(OUTPUTS):
        return None
    here = Path.cwd()
    home = project(here) or (project(folder.resolve()) if folder is not None else None)
    if home is None:
        return None
    command = shlex.join(["cd", str(home)])
    return f"no `outputs/` in {here}, but in {home}. Use that: `{command}`; or start a new one here: `mkdir outputs`"


def project(folder: Path) -> Path | None:
    """The folder that holds the results nearest to this one: itself or one above it."""
    # by os.path: some folders above may be closed to us
    return next((near for near in (folder, *folder.parents) if os.path.isdir(near / OUTPUTS / "plans")), None)  # noqa: PTH112


def store() -> Store:
    from stepgrid.store.store import Store

    return Store(data=current_site().data)


def host(store: Store) -> dict[str, Any]:
    """What this host is, with the storage that databases are on."""
    from stepgrid.host.facts import host_hardware

    return host_hardware(store.root if store.root.is_dir() else Path(), current_site())


def differing(site: Site, facts: Mapping[str, Any]) -> Differs:
    """Where this host is not a machine that it is to stand in for."""
    from stepgrid.host.facts import differences

    return lambda machine: differences(machine, facts) if site.allow_other_hardware else ()
