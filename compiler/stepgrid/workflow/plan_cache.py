"""Plans that were compiled before: as long as nothing that they depend on has changed, they are read, not compiled.

A record of each request lists everything that the compilation read. Any difference, or doubt, compiles again."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from stepgrid.host.disk import missing_for_power_cut
from stepgrid.host.files import find_record
from stepgrid.language.files import InputRecord, file_checksum, is_unchanged, record_inputs
from stepgrid.language.problems import Problems, format_problems
from stepgrid.language.site import current_site
from stepgrid.model.plan import Json, Plan
from stepgrid.model.records import plain
from stepgrid.model.secret_variables import mask_settings, secret_name
from stepgrid.package import DATABASES, INVESTIGATE, PACKAGE, TEMPLATES
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED, is_intact
from stepgrid.plugins.registry import COLLECTORS, DESIGNS, DRIVERS, ENGINES, LAYOUTS, foreign_packages
from stepgrid.store.plans import CachedPlan, Request, RequestRecord, secrets
from stepgrid.store.store import Store, write_note
from stepgrid.workflow import host_plan

LIBRARIES = ("jinja2", "pydantic", "pydantic_core", "ruamel.yaml")  # that take part in what a spec means


def find(store: Store, request: Request) -> CachedPlan | None:
    record = find_record(store.request_note(request.key), RequestRecord)
    with suppress(OSError, ValueError, LookupError):  # of what it read something is gone
        if (
            record
            and record.around == plain(_environment(store))
            and _are_inputs_unchanged(record.read)
            and is_intact(store.plan(record.plan.plan))
            and all(os.access(store.secret(name), os.R_OK) for name in record.plan.secrets)
        ):
            return record.plan
    return None


def load_or_compile(store: Store, request: Request, is_stored: bool = True) -> tuple[Plan, str]:
    """Return the plan and the compilation's warnings as text; a SpecError holds everything wrong with the spec."""
    if cached := find(store, request):
        with suppress(*DAMAGED):  # lost in the meantime
            return plan_file.read(store.plan(cached.plan)), cached.warnings

    problems, environment = Problems(), _environment(store)
    with record_inputs() as inputs, host_plan.asking_registries(is_stored):
        plan = host_plan.compile_for_host(request.spec, request.scale, problems, request.only, request.sets)
    warnings = format_problems(problems.warnings)
    if is_stored:
        with suppress(OSError):  # a store that cannot be written
            store.note_checksums(inputs.inputs)
            # a compilation that does not report what it read is not stored
            if os.path.normpath(host_plan.spec_name(request.spec)) in inputs.files:
                cached = CachedPlan(plan.digest, warnings, tuple(secret_name(text) for text in secrets(plan)))
                record = RequestRecord(request=request, around=environment, read=inputs, plan=cached)
                note = store.request_note(request.key)
                write_note(note, record)
                if cached.secrets or mask_settings(request.sets) != request.sets:  # warnings show lines of the spec
                    note.chmod(0o600)
    return plan, warnings


def _environment(store: Store) -> list[Json]:
    """List what a plan depends on beside the files that it read."""
    site = current_site()
    facts = host_plan.host_facts(store), missing_for_power_cut()
    return [code_digest(), *facts, site.allow_other_hardware, list(site.roots)]


@cache
def code_digest() -> str:
    """Digest this package, foreign plug-ins and libraries by size and time, as Python's own cache does."""
    result = hashlib.sha256(sys.version.encode())
    for folder in (PACKAGE, DATABASES, INVESTIGATE, TEMPLATES):
        result.update("".join(sorted(_sources(str(folder)))).encode())
    for package, folders in foreign_packages(ENGINES, DRIVERS, COLLECTORS, LAYOUTS, DESIGNS).items():
        result.update(package.encode())
        for folder in sorted(folders):
            lines = sorted(_sources(str(folder))) if folder.is_dir() else [_source(str(folder), folder.stat())]
            result.update("".join(lines).encode())
    for name in LIBRARIES:
        spec = find_spec(name)
        origin = spec.origin if spec else None
        result.update(_source(origin, Path(origin).stat()).encode() if origin else b"-")
    return result.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.endswith((".py", ".lua")):
            yield _source(entry.path, entry.stat())
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry.path)


def _source(path: str, status: os.stat_result) -> str:
    return f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n"


def _are_inputs_unchanged(record: InputRecord) -> bool:
    for path, checksum in record.files.items():
        if (file_checksum(path) if os.path.isfile(path) else None) != checksum:  # noqa: PTH113 - an import less
            return False
    are_same = all(is_unchanged(path, *state) for path, state in record.inputs.items())
    if not are_same or not (record.programs or record.trees):
        return are_same
    from stepgrid.build.pins import is_same_tree, pin

    return all(pin({"system": name}) == checksum for name, checksum in record.programs.items()) and all(
        map(is_same_tree, record.trees)
    )
