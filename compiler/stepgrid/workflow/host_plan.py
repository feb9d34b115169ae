"""A spec compiled for this host: the one place where planning meets the machine, its site file and its builds."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stepgrid.host import files
from stepgrid.language.files import digest, reuse_checksums
from stepgrid.language.problems import Location, Problem, Problems
from stepgrid.language.site import VARIABLE, choose_site_file, current_site, read_site
from stepgrid.language.sources import default_program
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.model.records import Json, KnownReleases, OptionInfo, replace
from stepgrid.model.site import LEAVE, Site
from stepgrid.model.units import counted
from stepgrid.plugins.engine import Checking, DeclaredBuilds, KnownOptions, release_numbers
from stepgrid.plugins.registry import ENGINES, engine
from stepgrid.store.paths import OUTPUTS, StorePaths, has_store

if TYPE_CHECKING:
    from stepgrid.expand.definitions import Differs
    from stepgrid.plan.checks import ReleaseOptions
    from stepgrid.store.store import Store

_asks_registries = ContextVar("asks_registries", default=False)


def compile_for_host(
    spec: str, scale: str | None, problems: Problems | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Plan:
    """Compile a spec; a SpecError holds everything that is wrong with it."""
    from stepgrid.build.pins import ReleaseAnswers, keep_apart, pin
    from stepgrid.host.disk import missing_for_power_cut
    from stepgrid.host.limits import limited, unlimited
    from stepgrid.plan.assembly import CompileContext, compile_spec
    from stepgrid.store.builds import existing_build
    from stepgrid.store.stage_requests import load_records

    results = store()
    facts = host_facts(results)
    context = CompileContext(
        only,
        sets,
        differs=stand_in_differences(current_site(), facts),
        pin_source=pin,
        keep_apart=partial(keep_apart, outputs=results.root),
        find_build=partial(existing_build, results),
        loads=load_records(results),
        no_power_cut=missing_for_power_cut(),
    )
    if _asks_registries.get():
        answers = ReleaseAnswers(current_site(), spec_name(spec))
        context = replace(context, ask_releases=unlimited()(answers.find))
    with limited(spec), reuse_checksums(results.checksums()):
        return compile_spec(spec_name(spec), scale, facts, problems, context)


@contextmanager
def asking_registries(asks: bool) -> Iterator[None]:
    """Let a run ask for newest releases that the lock file lacks; what only looks at a spec reaches no network."""
    token = _asks_registries.set(asks)
    try:
        yield
    finally:
        _asks_registries.reset(token)


def spec_name(spec: str) -> str:
    """Name a spec as results do: a path below the current folder is relative to it."""
    path = Path(spec)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def use_site_file(path: str | None, agree: Callable[[str], bool] = lambda question: False) -> Sequence[Problem]:
    """Let this process, and all jobs that it starts, use a site file; return what is wrong with it.

    A wrong one is not used at all, so that what else is wrong is found too. `agree` asks the user about one that nobody
    named: it may have come with a stranger's checkout."""
    problems = Problems()
    chosen, is_named = choose_site_file(path), path is not None or VARIABLE in os.environ
    if chosen is not None and (is_named or _is_here(spec_name(chosen), problems)):
        site = read_site(spec_name(chosen), problems)
        if not (is_named or problems.errors):
            _check_agreement(site, agree, problems)
    if chosen is not None or path is not None:
        os.environ[VARIABLE] = "" if chosen is None or problems.errors else chosen
    return problems.items


_SITE_HINT = "`--site {0}` uses it, `--site ''` leaves it out; STEPGRID_SITE names one for all commands"


def _is_here(name: str, problems: Problems) -> bool:
    """Report a link to another folder; no line of what it leads to is shown."""
    real = os.path.realpath(name)
    is_here = Path(real).parent == Path.cwd().resolve()
    if not is_here:
        message = f"the site file `{name}` is a link to `{real}`"
        problems.add("file-outside", Location(name, 0, 0), message, _SITE_HINT.format(name))
    return is_here


def _check_agreement(site: Site, agree: Callable[[str], bool], problems: Problems) -> None:
    """Ask once about a file of another user, and about each content of entries that a stranger could misuse."""
    name = str(site.path)
    # by these programs start, files are read, sources come from elsewhere, passwords leave this host, it is changed
    risks = {
        "tools": [f"{tool} ({path})" for tool, path in site.tools.items()],
        "roots": site.roots,
        "mirrors": [f"{url} ({mirror})" for url, mirror in site.mirrors.items()],
        "servers": [f"{server} ({entry.address})" for server, entry in site.servers.items()],
        "client": [f"{site.client.host} ({site.client.listen})"] if site.client else [],
        "noise": [] if site.noise == LEAVE else [site.noise],
        "signers": [site.signers] if site.signers else [],
        "notify": [urlsplit(site.notify).hostname or site.notify] if site.notify else [],
    }
    entries = {key: ", ".join(texts) for key, texts in risks.items() if texts}
    content = (os.path.realpath(name), entries, site.servers, *([site.notify] if site.notify else []))
    agreement = digest(repr(content).encode())  # without passwords
    home = os.path.expanduser("~/.local/state")  # noqa: PTH111 - a user may have no home
    agreements = Path(os.environ.get("XDG_STATE_HOME") or home, "stepgrid", "site-files")
    try:
        remembered = agreements.read_text(encoding="utf-8").splitlines()
    except OSError:
        remembered = []
    is_own = Path(name).stat().st_uid == os.geteuid()
    if (is_own and not entries) or agreement in remembered:
        return
    lines = [f"  {key}: {texts}" for key, texts in entries.items()]
    owner = "has entries that a stranger could misuse" if is_own else "is another user's"
    question = "\n".join([f"the site file {name} {owner}{':' if lines else ''}", *lines])
    if agree(question):
        with suppress(OSError):  # a home that cannot be written: the question comes again
            agreements.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.write_text(agreements, "".join(f"{line}\n" for line in (*remembered, agreement)))
        return
    reason = f"has {' and '.join(f'`{key}`' for key in entries)}" if is_own else "is another user's"
    message = f"the site file `{name}` {reason}: it may have come with a stranger's checkout"
    hint = f"at a terminal stepgrid asks once; {_SITE_HINT.format(name)}"
    problems.add("file-outside", Location(name, 1, 1), message, hint)


def store() -> Store:
    from stepgrid.store.store import Store

    return Store(data=current_site().data)


def host_facts(store: Store) -> dict[str, Json]:
    """Describe this host, with the storage that databases are on."""
    from stepgrid.host.facts import host_hardware

    return host_hardware(store.root if store.root.is_dir() else Path(), current_site())


def stand_in_differences(site: Site, facts: Mapping[str, Json]) -> Differs:
    """Compare this host with a machine that it stands in for."""
    from stepgrid.host.facts import differences

    return lambda machine: differences(machine, facts) if site.allow_other_hardware else ()


def results_elsewhere(folder: Path | None = None) -> str | None:
    """Say where results are, in a current folder that has none: above it, or in `folder` (that of a spec) or above."""
    if os.path.lexists(OUTPUTS):
        return None
    current = Path.cwd()
    home = project_folder(current) or (project_folder(folder.resolve()) if folder is not None else None)
    if home is None:
        return None
    command = shlex.join(["cd", str(home)])
    return f"no `outputs/` in {current}, but in {home}. Use that: `{command}`; or start a new one here: `mkdir outputs`"


def other_results(plan: Plan) -> str:
    """Say where results of a plan are that has none here: above the current folder, or in that of its spec or above."""
    current, stages = Path.cwd(), {stage.id for stage in plan.stages}
    if stages & StorePaths().stages_with_results():
        return ""
    for folder in dict.fromkeys((*current.parents, *Path(plan.spec).resolve().parents)):
        if count := len(stages & StorePaths(folder / OUTPUTS).stages_with_results()):
            results = f"{count} of {len(stages)} stages have results in {folder / OUTPUTS}, none has one here"
            return f"{plan.spec}: {results}; use those by `{shlex.join(['cd', str(folder)])}`"
    return ""


def project_folder(folder: Path) -> Path | None:
    """Find the nearest folder that holds results: this one or one above it."""
    return next(filter(has_store, (folder, *folder.parents)), None)


# Faults of a plan that its builds show


def build_problems(plan: Plan, store: Store) -> Sequence[Problem]:
    """Check options and programs of stages against the builds; a measured stage has been taken by its binary."""
    from stepgrid.plan import checks
    from stepgrid.store.builds import build_catalogue
    from stepgrid.store.results import Results

    catalogues = {build.id: build_catalogue(store, build.id) for build in plan.builds}

    def measured() -> set[str]:
        results = Results(store)
        return {stage.id for stage in plan.stages if (result := results.of(stage)) and result.status == "done"}

    unbuilt_engines = {build.engine for build in plan.builds if catalogues[build.id] is None}
    releases = {name: _release_options(name, store) for name in sorted(unbuilt_engines)}
    problems = checks.option_problems(plan, catalogues, measured, releases, _all_known_options)
    return [*problems, *checks.program_problems(plan, {build.id: _programs(store, build) for build in plan.builds})]


def unchecked_builds(plan: Plan, store: Store) -> list[PlannedBuild]:
    """List builds that are not made yet, and whose options can be checked when they are."""
    from stepgrid.store.builds import build_record

    with_options = {stage.build for stage in plan.stages if any(step.options for step in stage.steps)}
    return [
        build
        for build in plan.builds
        if build.id in with_options and isinstance(engine(build.engine), Checking) and not build_record(store, build.id)
    ]


def _all_known_options() -> dict[str, frozenset[str]]:
    """List the options that are documented with each engine."""
    kinds = {name: engine(name) for name in ENGINES.names()}
    return {
        name: frozenset(files.load_record(kind.known_options, KnownReleases).options)
        for name, kind in kinds.items()
        if isinstance(kind, KnownOptions)
    }


def _release_options(name: str, store: Store) -> ReleaseOptions:
    """Collect the options of an engine that are documented with it, and those of its builds made here."""
    from stepgrid.plan.checks import ReleaseOptions
    from stepgrid.store.builds import build_catalogue, build_ids, build_record

    kind = engine(name)
    options: dict[str, OptionInfo] = {}
    releases: tuple[str, ...] = ()
    if isinstance(kind, KnownOptions):
        catalogue = files.load_record(kind.known_options, KnownReleases)
        releases = catalogue.releases[name]
        options = {option: OptionInfo(option, type_) for option, type_ in catalogue.options.items()}
    for build in build_ids(store):
        if (record := build_record(store, build)) and record.engine == name:
            options.update(build_catalogue(store, build) or {})
    return ReleaseOptions(options, max(releases, key=release_numbers, default=""))


def _programs(store: Store, build: PlannedBuild) -> Collection[str] | None:
    """List the programs of a build; of one that is not made, those that it declares."""
    from stepgrid.store.builds import build_record

    if (record := build_record(store, build.id)) and record.programs:
        return record.programs
    kind = engine(build.engine)
    if not isinstance(kind, DeclaredBuilds):
        return None
    program = default_program(build.source)
    return kind.program_paths(build.recipe) or ([program] if program else None)


# Warnings, shown once a day for each spec

ALL_WARNINGS = "STEPGRID_ALL_WARNINGS"  # set by --all-warnings
_WARNING = re.compile(r"^\S.*?: warning\[", re.MULTILINE)


def warnings_once_a_day(store: Store, spec: str, text: str, is_noted: bool = True) -> str:
    """Shorten warnings to one line where they were shown for this spec today; only a store can remember that."""
    from datetime import date

    from stepgrid.store.store import write_note

    count = len(_WARNING.findall(text))
    if not count or os.environ.get(ALL_WARNINGS):
        return text
    note = {"day": date.today().isoformat(), "warnings": digest(text.encode())}
    key = digest(os.path.abspath(spec).encode())[:20]  # noqa: PTH100 - an import less
    if files.read_json(store.shown_warnings(key)) == note:
        return f"{spec}: {counted(count, 'warning')}, already shown today; --all-warnings shows them again"
    if is_noted and store.root.is_dir():
        with suppress(OSError):  # a store that cannot be written
            write_note(store.shown_warnings(key), note)
    return text
