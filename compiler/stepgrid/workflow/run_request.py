"""A request to run: its words, its plan and the work that remains, or the reason why nothing can be started."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from errno import EACCES
from functools import cache
from pathlib import Path
from typing import Any

from stepgrid.errors import FAILED, PROBLEMS, USAGE, StepgridError
from stepgrid.host import cluster_job
from stepgrid.host.disk import missing_for_power_cut
from stepgrid.host.facts import hardware_contradiction, machines_without_nodes
from stepgrid.host.files import STALE_HINT, is_stale
from stepgrid.host.limits import LimitError
from stepgrid.host.terminal_output import folded
from stepgrid.language.problems import Location, Problem, SpecError, close_names, count_problems, format_problems
from stepgrid.language.site import VARIABLE, current_site
from stepgrid.language.sources import READY
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, recipe_flags, runs_already
from stepgrid.model.site import HERE
from stepgrid.plugins import registry
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.server import NetworkServer
from stepgrid.run import end_time
from stepgrid.store.active_run import disk_refusal, full_disk_sentence, is_full_disk_error
from stepgrid.store.plans import Request
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, plan_cache
from stepgrid.workflow.remaining_work import RemainingWork, remaining_work

STAND_IN = (
    "nothing was started: run it on that machine, or say `allow_other_hardware: true` in a site file "
    "(docs/reference/running.md), which keeps its results under this host's own id"
)
NO_NODES = "nothing was started: the site file names no nodes for the hardware of the spec:"
SHELL = "bash"  # of the Snakefile: a plain sh does not know its redirections
WHICH_SPEC = "which spec? snakemake --config spec=specs/quickstart.yaml, or stepgrid run specs/quickstart.yaml"


class Refusal(StepgridError):
    """Sentences about what is wrong with the request or the spec."""

    def __init__(self, text: str, status: int = PROBLEMS, problems: Sequence[Problem] = ()) -> None:
        super().__init__(text)
        self.status = status  # of the command
        self.problems = problems  # of the spec


def use_words(config: Mapping[str, object]) -> None:
    """Check the words of a request, and let this process and its jobs use its site file and its end."""
    if messages := [*config_faults(config)] or ([] if config.get("spec") else [WHICH_SPEC]):
        raise Refusal("\n".join(messages), USAGE)
    if message := host_plan.results_elsewhere():
        raise Refusal(message, USAGE)
    try:
        end_time.set_end_time(config.get("until"))  # the run's jobs start nothing that would end later
    except ValueError as error:
        raise Refusal(str(error), USAGE) from None
    use_site(config)


def site_in_use() -> str | None:
    return os.environ.get(VARIABLE)


def refuse_unrunnable(work: RemainingWork, request: Request) -> None:
    """Refuse options that builds do not take, what this version cannot run, and another machine than the spec's."""
    if work.stages.keys() & work.lacking:
        _refuse_wrong_options(work)
    if not work.is_over and not cluster_job.active() and not shutil.which(SHELL):
        why = f"there is no {SHELL} on PATH, and the jobs that collect and report begin in it"
        raise Refusal(f"nothing was started: {why}; install it", FAILED)
    if work.lacking:
        refuse_unsupported(work)
        _refuse_sockets(work, request)
    _refuse_foreign_hardware(work)


# The words of a request: keys and values of Snakemake's config, of `--config` or of a file

CONFIG = "Snakemake's config"
SECTION = "stepgrid"  # holds our keys in a config that other workflows share
NO_WAIT = "no_wait"
KEYS = {
    "spec": "the file of a spec",
    "scale": "the name of one of the spec's `scales`",
    "only": "one expression over the axes",
    "set": "PATH=VALUE, or a list of them",
    "site": "a site file",
    "until": "a duration or a time of day",
    NO_WAIT: "true or false",
}
_HEX = "hex:"
_SHELL_CHARACTERS = frozenset("'\\$`")  # the executor for SLURM puts Python's quotes, and a shell's, around a value


def own_section(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the words of a request: the whole config, or its section `stepgrid`, beside which any key may stand."""
    section = config.get(SECTION)
    if section is None:
        return config
    if not isinstance(section, dict):
        raise Refusal(f"{CONFIG}: {SECTION}={section}: expected a map: {SECTION}={{spec: FILE}}", USAGE)
    if outside := [name for name in KEYS if name in config]:
        names = ", ".join(f"`{name}`" for name in outside)
        raise Refusal(f"{CONFIG}: {names} beside the section `{SECTION}`, which alone counts: write it there", USAGE)
    return section


def config_faults(config: Mapping[str, object]) -> Iterator[str]:
    """Check keys and values: else `scal=smoke` would start the whole experiment."""
    for key, value in config.items():
        if key not in KEYS:
            close = close_names(key, KEYS)
            hint = f"did you mean `{close[0]}`?" if close else f"a value of the spec is set by `set={key}={value}`;"
            yield f"{CONFIG}: there is no key `{key}`: {hint} known keys: {', '.join(KEYS)}"
        elif value is None and key != "site":  # `site=` means no site file
            yield f"{CONFIG}: `{key}=` has no value: expected {KEYS[key]}, or leave it out"
        elif key == NO_WAIT and str(value).lower() not in ("true", "false"):
            yield f"--config: {key}={value}: expected {KEYS[key]}"
        elif isinstance(value, dict) or (isinstance(value, list | tuple) and key != "set" and len(value) != 1):
            yield f"{CONFIG}: {key}={value}: expected {KEYS[key]}"


def quote_texts(texts: Sequence[str]) -> str:
    """Write texts as a list, which keeps the quotes at their ends; where a shell would change it, in digits."""
    plain = json.dumps(list(texts))
    return plain if _SHELL_CHARACTERS.isdisjoint(plain) else _HEX + plain.encode().hex()


def read_texts(value: Any) -> tuple[str, ...]:
    """Read a text, a list of them, or what `quote_texts` made of one."""
    if isinstance(value, str) and value.startswith(_HEX):
        value = json.loads(bytes.fromhex(value.removeprefix(_HEX)))
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(str(text) for text in values if text is not None)


def plan_request(config: Mapping[str, object]) -> Request:
    scale = config.get("scale")
    only = next(iter(read_texts(config.get("only"))), None)
    spec = host_plan.spec_name(str(config["spec"]))
    return Request(spec, None if scale is None else str(scale), only, read_texts(config.get("set")))


def use_site(config: Mapping[str, object]) -> None:
    """Let the run and its jobs use the request's site file, or none where `site=` is empty."""
    if problems := host_plan.use_site_file(str(config["site"] or "") if "site" in config else None):
        raise Refusal(f"{format_problems(problems)}\n\n{problems[0].where.file}: {count_problems(problems)}")


# The plan and its store


@cache
def requested_plan(request: Request, site: str | None = None, is_stored: bool = True) -> Plan:
    """Return the plan of a request on this host, for which `stepgrid run` and the Snakefile ask in one process.

    `site`: the site file that is in use. `is_stored`: the plan is cached for later processes, too."""
    store = host_plan.store()
    try:
        plan, warnings = plan_cache.load_or_compile(store, request, is_stored)
    except SpecError as error:
        text = f"{format_problems(error.problems)}\n\n{request.spec}: {count_problems(error.problems)}"
        raise Refusal(text, problems=error.problems) from None
    except LimitError as error:
        raise Refusal(str(error)) from None
    if warnings:
        text = host_plan.warnings_once_a_day(store, request.spec, warnings, is_stored)
        print(folded(text, sys.stderr), file=sys.stderr)
    if note := host_plan.other_results(plan):
        print(folded(note, sys.stderr), file=sys.stderr)
    return plan


def usable_work(plan: Plan, store: Store, dry_run: bool) -> RemainingWork:
    """Compare the plan with the store, and refuse a store that cannot take what remains."""
    try:
        work = remaining_work(plan, store, dry_run)
    except OSError as error:
        raise Refusal(explain_error(store, error), FAILED) from None
    if not work.is_over:
        if full := disk_refusal(store):
            raise Refusal(full, FAILED)
        if folder := store.unwritable():
            denial = PermissionError(EACCES, "no permission to write", str(folder))
            raise Refusal(explain_error(store, denial), FAILED)
    return work


def explain_error(store: Store, error: OSError) -> str:
    """Explain why the store cannot be used."""
    if is_full_disk_error(error):
        return full_disk_sentence(store)
    where = f" ({error.filename})" if error.filename else ""
    if is_stale(error):
        return f"{store.root.absolute()} could not be read: {error.strerror}{where}; {STALE_HINT}"
    if error.filename and store.data != store.root and Path(error.filename).is_relative_to(store.data.parent):
        return f"{error.filename}, of the site file's `data`, cannot be written: {error.strerror or error}"
    advice = "make it writable, or start in another folder"
    return f"{store.root.absolute()} cannot be written: {error.strerror or error}{where}; {advice}"


# Refusals


def _refuse_wrong_options(work: RemainingWork) -> None:
    """Check options against the builds that are made; those of other builds are checked when they are made."""
    problems = host_plan.build_problems(work.plan, work.store)
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise Refusal(f"{format_problems(errors)}\n\n{work.plan.spec}: {count_problems(errors)}")


def _refuse_sockets(work: RemainingWork, request: Request) -> None:
    """Refuse commands that name the socket of their server, where clients run on another machine."""
    if not (client := current_site().client):
        return
    from stepgrid.run.client_host import runs_there

    problems = dict[Problem, None]()
    plan = host_plan.compile_for_host(request.spec, request.scale, None, request.only, request.sets)  # with places
    builds = (build for build in plan.builds if not runs_already(build.source))
    engines = {build.id: registry.server_engine(build.engine) for build in builds}
    for stage in plan.stages:
        is_used = stage.id in work.lacking and isinstance(engines.get(stage.build), NetworkServer)
        for step in stage.steps if is_used else ():
            if runs_there(step.kind) and (match := re.search(r"\{sockets?\}", str(step.settings.get("argv")))):
                where = Location.read(getattr(step.settings, "at", {}).get("argv", f"{plan.spec}:1:1"))
                message = f"step `{step.name}`: its program runs on {client.host}, where `{match[0]}` leads nowhere"
                problems[Problem("unknown-placeholder", where, message, "use `{host}` and `{port}`")] = None
    if problems:
        raise Refusal(f"{format_problems([*problems])}\n\n{plan.spec}: {count_problems([*problems])}")


def _refuse_foreign_hardware(work: RemainingWork) -> None:
    """Check the hardware before anything is started; the jobs check it again."""
    machines, site = work.plan.machines, current_site()
    if not work.stages.keys() & work.lacking and not (work.elsewhere and not work.results):
        return
    if not cluster_job.active():
        if difference := hardware_contradiction(machines, work.store.root, site):
            raise Refusal(f"{difference}\n{STAND_IN}", FAILED)
        return
    without_nodes = machines_without_nodes(machines, site)
    if len(without_nodes) == len(machines):
        names = [name if machines[name].get("declared") else HERE for name in without_nodes]
        listed = ", ".join(f"`{name}`" for name in names)
        raise Refusal(f"{NO_NODES} {listed}; add `slurm: {{machines: {{{names[0]}: {{nodes: […]}}}}}}` to it", FAILED)


def refuse_unsupported(work: RemainingWork) -> None:
    """Refuse what this version cannot run, and servers that the site file does not name."""
    builds = [build for build in work.plan.builds if build.id in work.lacking]
    stages = [stage for stage in work.plan.stages if stage.id in work.lacking]
    refusals = unsupported(work.plan.spec, builds, stages)
    used = dict.fromkeys(build for stage in stages for build in stage.builds)
    if servers := [build for name in used if runs_already((build := work.builds[name]).source)]:
        from stepgrid.build.external_server import missing_entries

        refusals += missing_entries(servers, current_site())
    if refusals:
        raise Refusal("\n".join(refusals))


READY_SOURCES = ("debian", "system", "server")
CHECK_ONLY = "this version checks and plans"


def unsupported(spec: str, builds: Sequence[PlannedBuild], stages: Sequence[PlannedStage]) -> list[str]:
    """Name what this version, or this host, cannot run of a plan, once each."""
    kinds = registry.unrunnable_kinds(step.kind for stage in stages for step in stage.steps)
    sentences = [f"{spec}: {CHECK_ONLY} steps of kind {kind}; it cannot run them yet" for kind in kinds]
    for engine in registry.unrunnable_engines(build.engine for build in builds):
        first = next(build for build in builds if build.engine == engine)
        sentences.append(f"{_position(first)}{CHECK_ONLY} the engine {engine}; it cannot run it yet")
    return [*sentences, *unsupported_recipes(builds), *_probes(spec, builds, stages), *_power_cuts(spec, stages)]


def unsupported_recipes(builds: Sequence[PlannedBuild]) -> list[str]:
    """Name the parts of recipes that sources of ready binaries cannot follow; also of engines that do not run yet."""
    sentences = []
    for build in builds:
        kind = next((kind for kind in READY_SOURCES if kind in build.source), None)
        # packages may bring extensions
        parts = [name for name in ("patches", "flags", "extensions") if build.recipe.get(name)]
        parts = [name for name in parts if (kind, name) != ("debian", "extensions")]
        if kind in READY and parts == ["flags"]:
            engine, flags = registry.engine(build.engine), recipe_flags(build.recipe)
            is_choice = isinstance(engine, DeclaredBuilds) and engine.only_choose(flags)
            parts = [] if is_choice else parts  # a choice among the programs of a package
        if kind and parts:
            names = " and ".join(f"`{name}`" for name in parts)
            sentences.append(
                f"{_position(build)}the binaries of `source: {kind}` are made already: no {names} for them; "
                "leave them out, or build from source"
            )
    return sentences


def _probes(spec: str, builds: Sequence[PlannedBuild], stages: Sequence[PlannedStage]) -> Iterator[str]:
    engines = {build.id: build.engine for build in builds}
    names = set[str]()
    for engine, step in ((engines.get(stage.build), step) for stage in stages for step in stage.steps):
        for probe in (*step.setup.before, *step.setup.after):
            key = "sql" if probe.sql else "counters" if probe.counters else ""
            if engine and key and probe.name not in names and not registry.engine(engine).server:
                names.add(probe.name)
                yield f"{spec}: probe `{probe.name}` asks for `{key}`, which needs a server; {engine} is none"


def _power_cuts(spec: str, stages: Sequence[PlannedStage]) -> Iterator[str]:
    steps = (step for stage in stages for step in stage.steps)
    step = next((step for step in steps if registry.power_setting(step.kind, step.settings)), None)
    if step and (reason := missing_for_power_cut()):
        yield f"{spec}: step `{step.name}` cuts the power of a disk, which this host cannot: {reason}"


def _position(build: PlannedBuild) -> str:
    return f"{build.where}: " if build.where else ""
