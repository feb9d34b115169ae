"""Plans that were compiled before: as long as nothing that they depend on has changed, they need not be compiled again.

Kept is, for each request, everything that the compilation looked at. Whatever differs, or cannot be told, compiles."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host import files
from stepgrid.language.files import InputRecord, digest, record_inputs
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.package import PACKAGE, TEMPLATES
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED, is_intact
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, ENGINES, LAYOUTS, foreign_packages
from stepgrid.store.store import Store

LIBRARIES = ("jinja2", "pydantic", "pydantic_core", "ruamel.yaml")  # that take part in what a spec means


class Request(NamedTuple):
    spec: str
    scale: str | None = None
    only: str | None = None
    sets: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return digest(json.dumps(self).encode())[:20]


class CachedPlan(NamedTuple):
    plan: str  # the digest
    cells: int
    stages: int
    said: str  # the compilation's warnings


class Kept(NamedTuple):
    key: str
    plan: str  # the digest
    request: Request | None  # None: an older version kept its key alone


def find(store: Store, request: Request) -> CachedPlan | None:
    try:
        kept = json.loads(store.request_note(request.key).read_text(encoding="utf-8"))
        if kept["around"] == around(store) and _as_it_was(kept) and is_intact(store.plan(kept["plan"][0])):
            return CachedPlan(*kept["plan"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none, or it is another version's
    return None


def requests(store: Store) -> Iterator[Kept]:
    """All that were ever run here."""
    for path in sorted(store.request_note("_").parent.glob("[!.]*.json")):
        kept = files.read_json(path)
        with suppress(KeyError, IndexError, ValueError, TypeError):
            yield Kept(path.stem, str(kept["plan"][0]), _request(kept.get("request")))


def _request(said: Any) -> Request | None:
    if said is None:
        return None
    spec, scale, only, sets = said
    return Request(spec, scale, only, tuple(sets))


def compiled(store: Store, request: Request, keep: bool = True) -> tuple[Plan, str]:
    """The plan and the compilation's warnings as text; SpecError holds everything that is wrong with the spec."""
    if found := find(store, request):
        with suppress(*DAMAGED):  # lost in the meantime
            return plan_file.read(store.plan(found.plan)), found.said
    return _compiled(store, request, keep)


def _compiled(store: Store, request: Request, keep: bool) -> tuple[Plan, str]:
    from stepgrid.language.problems import Problems, format_problems
    from stepgrid.workflow import host_plan

    problems, before = Problems(), around(store)
    with record_inputs() as seen:
        plan = host_plan.compiled(request.spec, request.scale, problems, request.only, request.sets)
    said = format_problems(problems.warnings)
    if keep:
        with suppress(OSError):  # a store that cannot be written
            store.note_checksums(seen.inputs)
            _keep(store, request, seen, before, CachedPlan(plan.digest, len(plan.cells), len(plan.stages), said))
    return plan, said


def _keep(store: Store, request: Request, seen: InputRecord, before: object, made: CachedPlan) -> None:
    """`before`: what was around when the compilation began. One that does not say what it read is not kept."""
    from stepgrid.workflow import host_plan

    if os.path.normpath(host_plan.named(request.spec)) in seen.files:
        kept = {"request": request, "around": before, **seen._asdict(), "plan": made}
        store.note_request(request.key, kept)


def around(store: Store) -> list[Any]:
    """What a plan depends on beside the files that it read."""
    from stepgrid.workflow import host_plan

    site = current_site()
    return [code(), host_plan.host(store), site.allow_other_hardware, list(site.roots)]


@cache
def code() -> str:
    """Of this package, the plug-ins of others, and libraries, told apart as Python's own cache does sources: by size
    and time."""
    found = hashlib.sha256(sys.version.encode())
    for folder in (PACKAGE, TEMPLATES):
        found.update("".join(sorted(_sources(str(folder)))).encode())
    for package, folders in foreign_packages(ENGINES, DRIVERS, COLLECTORS, LAYOUTS).items():
        found.update(package.encode())
        for folder in sorted(folders):
            found.update("".join(sorted(_sources(str(folder)))).encode() if folder.is_dir() else _mark(str(folder)))
    for name in LIBRARIES:
        spec = find_spec(name)
        found.update(_mark(spec.origin) if spec and spec.origin else b"-")
    return found.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.endswith((".py", ".lua")):
            status = entry.stat()
            yield f"{entry.path}\0{status.st_size}\0{status.st_mtime_ns}\n"
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry.path)


def _mark(path: str) -> bytes:
    status = Path(path).stat()
    return f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode()


def _as_it_was(kept: Mapping[str, Any]) -> bool:
    return (
        all(_file(path) == was for path, was in kept["files"].items())
        and all(_program(name) == was for name, was in kept["programs"].items())
        and all(_tree(path, *was) for path, was in kept["trees"].items())
        and all(_input(path, *was) for path, was in kept["inputs"].items())
    )


def _file(path: str) -> str | None:
    # what is no plain file may wait for its writer when it is read
    return digest(Path(path).read_bytes()) if os.path.isfile(path) else None  # noqa: PTH113 - an import less


def _program(name: str) -> str:
    from stepgrid.build.pins import pin

    return pin({"system": name})


def _input(path: str, mark: str, was: str) -> bool:
    from stepgrid.language.files import is_unchanged

    return is_unchanged(path, mark, was)


def _tree(path: str, mark: str, was: str) -> bool:
    from stepgrid.build.pins import is_same_tree

    return is_same_tree(path, mark, was)
