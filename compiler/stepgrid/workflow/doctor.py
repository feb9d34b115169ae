"""Checks of this host, and of what a plan needs of it: the sections of `stepgrid doctor`."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import PACKAGES as TOOL_PACKAGES
from stepgrid.host import activity, disk, facts, locks, sysfs
from stepgrid.host.files import FICLONE
from stepgrid.host.noise import look
from stepgrid.host.processes import cgroup, launch
from stepgrid.host.speed import SPEEDS, recorded_speed
from stepgrid.language.sources import REQUIREMENTS, network_sources, source_parts
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.records import OK, STOPS, WARNING, HostFinding, LaunchRequest
from stepgrid.model.site import Site
from stepgrid.model.table import group
from stepgrid.model.units import counted, first, percent, size
from stepgrid.plugins.registry import COLLECTORS, engine, server_engine
from stepgrid.plugins.work import client_count
from stepgrid.store.store import Store

FEW_PROCESSORS, MOST_NAMED = 4, 3
LEAST_FREE = 0.1  # of a device: below that, flash slows down
BLOCK = 4096
UNSYNCHRONIZED = 0x40  # STA_UNSYNC of adjtimex(2)
STATUS_OFFSET = 40  # of the status in struct timex, on machines of 64 bits
REMOTE_SECONDS = 20.0  # that a repository is waited for
PARANOID = 2  # up to there, users may count events of their own processes

USES = {
    "numactl": "`launch: {numa}`",
    "taskset": "`launch: {cpus}`",
    "perf": "collectors of perf",
    "iostat": "looking at a device by hand",
    "git": "builds from git",
    "cc": "builds from source",
    "c++": "builds from source",
    "make": "builds from source",
    "cmake": "builds from source",
    "ninja": "builds from source",
}
PACKAGES = {**TOOL_PACKAGES, "taskset": "util-linux", "perf": "linux-perf", "iostat": "sysstat"}
SOURCE_TOOLS = {
    "git": "git",
    "maven": "mvn",
    "crate": "cargo",
    "debian-source": "dpkg-source",
    "cargo": "cargo",
    "go": "go",
    "npm": "npm",
}


class DoctorSection(NamedTuple):
    title: str
    findings: tuple[HostFinding, ...]


def sections(store: Store, site: Site, plan: Plan | None = None) -> Iterator[DoctorSection]:
    built = [build.id for build in plan.builds if store.has_build(build.id)] if plan else []
    needed = needed_programs(plan, built) if plan else {}
    if plan:
        yield DoctorSection("for this spec", tuple(_plan_findings(plan, store, site)))
    yield DoctorSection("where things go", tuple(folder_findings(store)))
    yield DoctorSection("what the system allows", (*system_findings(), _speed(store)))
    yield DoctorSection("programs", tuple(_program_findings(site, needed)))
    noise = look(store.data, site.device, locks.host_lock_path())
    yield DoctorSection(f"noise, over {activity.look_seconds():g} s", tuple(noise.findings))


# The needs of a plan


def _plan_findings(plan: Plan, store: Store, site: Site) -> Iterator[HostFinding]:
    yield _hardware(plan, store, site)
    launches = _launches(plan.stages)
    for library in sorted({options.malloc for options in launches if options.malloc}):
        try:
            yield HostFinding(library, OK, launch.allocator_library(library))
        except launch.LaunchError as error:
            yield HostFinding(library, STOPS, str(error), None, "here", f"sudo apt install {launch.PACKAGES[library]}")
    if text := placement(plan):
        yield HostFinding("placement", WARNING, text, mend=f"{launch_line()} in the spec")
    yield from map(_processors, sorted({options.cpus for options in launches if options.cpus}))
    for tool in missing_tools(plan.stages, site):
        mend = f"sudo apt install {tool.package}, or `tools:` of a site file" if tool.package else ""
        yield HostFinding(
            tool.program, WARNING, f"not installed; the collector {tool.collector} needs it", None, "", mend
        )
    if _names_with_libraries(plan, store) and (lack := _missing_client(site)):
        yield HostFinding("libraries", STOPS, lack)
    yield from _ref_findings(plan, store, site)
    is_limited = any(options.memory for options in launches)
    if is_limited and launch.scope_refusal(launch.SCOPE) and not cgroup.can_limit():
        mend = "leave `launch: {memory}` out, or run where `systemd-run --user` works"
        yield HostFinding("memory limits", STOPS, "not possible on this host", None, "", mend)


def _hardware(plan: Plan, store: Store, site: Site) -> HostFinding:
    path = store.root if store.root.is_dir() else store.root.absolute().parent
    if sentence := facts.hardware_contradiction(plan.machines, path, site):
        mend = "run it there, or `allow_other_hardware: true` in a site file"
        return HostFinding("hardware", STOPS, sentence.replace("\n", " "), None, "that of the spec", mend)
    if foreign := facts.foreign_machines(plan.machines, path, site):
        text = f"this host is one of {len(plan.machines)} machines; elsewhere: {', '.join(foreign)}"
        return HostFinding("hardware", OK, text, sorted(foreign))
    is_declared = any(machine.get("declared") for machine in plan.machines.values())
    actual = facts.host_hardware(path, site)
    text = "as the spec declares" if is_declared else "any will do"
    return HostFinding(
        "hardware", OK, f"{text}: {actual.get('cpu', 'unknown')}, {actual.get('cores', '?')} cores", actual
    )


def _ref_findings(plan: Plan, store: Store, site: Site) -> Iterator[HostFinding]:
    """Ask each repository once whether it has the tags of the builds that are not made: a compile takes hours."""
    from stepgrid.build.git import missing_refs
    from stepgrid.build.recipe import asking

    builds = [build for build in plan.builds if not store.has_build(build.id)]
    refs: dict[str, dict[str, PlannedBuild]] = {}
    for build in builds:
        for part in source_parts(build.source):
            if "git" in part:
                refs.setdefault(str(part["git"]), {}).setdefault(str(part.get("ref", "")), build)
    for url, by_ref in refs.items():
        try:
            with asking(next(iter(by_ref.values())), site) as order:
                missing = missing_refs(order, url, by_ref, REMOTE_SECONDS)
        except (BuildError, OSError) as error:
            yield HostFinding.unknown("tags", str(error))
            continue
        for ref, sentence in missing.items():
            yield HostFinding("tags", STOPS, f"build {by_ref[ref].name}: {sentence}", mend="correct `version` or `ref`")
        yield from () if missing else (HostFinding("tags", OK, f"{url} has {counted(len(by_ref), 'ref')}"),)


def _processors(cpus: str) -> HostFinding:
    usable, text = os.sched_getaffinity(0), f"`cpus: {cpus}`"
    if launch.parse_processors(cpus) <= usable:
        return HostFinding("processors", OK, text, sorted(usable))
    text += f": this host gives {launch.format_processors(usable)}"
    return HostFinding(
        "processors", STOPS, text, sorted(usable), "all of them", "`launch: {cpus}` of processors of this host"
    )


def launch_line() -> str:
    return f"`launch: {{cpus: {max(os.sched_getaffinity(0))}}}`"


def placement(plan: Plan) -> str:
    """Say which steps have one client and its server on a few processors, between which the kernel moves them."""
    processors = len(os.sched_getaffinity(0))
    if processors > FEW_PROCESSORS or processors < 2 or plan.hardware.get("declared"):
        return ""
    servers = {build.id for build in plan.builds if server_engine(build.engine)}
    steps = [step for stage in plan.stages if stage.build in servers for step in stage.steps if step.measured]
    counts = group(
        (step.name, 0 if step.setup.launch.cpus else client_count(step.kind, step.settings)) for step in steps
    )
    names = [name for name, clients in counts.items() if {*clients} == {1}]
    if not names:
        return ""
    text = f"{', '.join(first(names, MOST_NAMED))}: one client and its server on {processors} processors"
    return f"{text}, as the kernel places them: loads may differ several times over"


def needed_programs(plan: Plan, built: Iterable[str]) -> dict[str, str]:
    """Map the programs that stages and builds need to their purpose; builds that are made need none."""
    builds = [build for build in plan.builds if build.id not in set(built)]
    programs = {tool: f"the build {build.name}" for build in builds for tool in _build_tools(build)}
    for options in _launches(plan.stages):
        if options.numa and launch.numa_nodes() > 1:
            programs["numactl"] = USES["numactl"]
        if options.cpus:
            programs["taskset"] = USES["taskset"]
    return programs


def _build_tools(build: PlannedBuild) -> Iterator[str]:
    from stepgrid.build.compilation import SourceRecipe
    from stepgrid.build.ready_programs import recipe_of

    recipe = recipe_of(build, engine(build.engine))
    yield from (SOURCE_TOOLS[key] for part in source_parts(build.source) for key in part if key in SOURCE_TOOLS)
    if recipe:
        yield from recipe.needed_tools(build) if isinstance(recipe, SourceRecipe) else recipe.tools


def build_downloads(build: PlannedBuild) -> Iterator[tuple[str, str]]:
    """List kind and name of what a build takes from the network, less Debian's headers."""
    from stepgrid.build.compilation import SourceRecipe
    from stepgrid.build.ready_programs import recipe_of

    yield from network_sources(build.source)
    recipe = recipe_of(build, engine(build.engine))
    if recipe:
        sources = recipe.needed_sources(build) if isinstance(recipe, SourceRecipe) else ()
        yield from (download for source in sources for download in network_sources(source))


def missing_clients(plan: Plan, store: Store, site: Site) -> Iterator[str]:
    """Say of the builds that are not made yet what this host lacks to fetch, compile or install them."""
    if (listed := _names_with_libraries(plan, store)) and (lack := _missing_client(site)):
        yield f"{_subject(listed)} cannot be made on this host, because {lack}"
    names, tools = list[str](), dict[str, None]()
    for build in (build for build in plan.builds if not store.has_build(build.id)):
        lacking = [tool for tool in _build_tools(build) if not shutil.which(site.tool(tool))]
        names += [build.name] if lacking else []
        tools |= dict.fromkeys(lacking)
    if tools:
        packages = shlex.join(dict.fromkeys(PACKAGES.get(tool, tool) for tool in tools))
        lack = f"there is no {' and no '.join(site.tool(tool) for tool in tools)}"
        mend = f"`sudo apt install {packages}`, or name them under `tools:` in the site file"
        yield f"{_subject(names)} cannot be made on this host, because {lack}: {mend}"


def _missing_client(site: Site) -> str:
    from stepgrid.build.recipe import SourceWithClient, load_source  # much to import, and few builds have libraries

    source = load_source(REQUIREMENTS)
    return source.missing_client(site) if isinstance(source, SourceWithClient) else ""


def _subject(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"build {names[0]}"
    return f"build {names[0]} and {counted(len(names) - 1, 'other build')}"


def _names_with_libraries(plan: Plan, store: Store) -> list[str]:
    """List builds that are not made yet and whose scripts have libraries."""
    builds = [build for build in plan.builds if any(REQUIREMENTS in part for part in source_parts(build.source))]
    return [build.name for build in builds if not store.has_build(build.id)]


def _launches(stages: Iterable[PlannedStage]) -> list[LaunchRequest]:
    return [step.setup.launch for stage in stages for step in stage.steps]


class MissingTool(NamedTuple):
    """A program that a collector needs and this host lacks: steps are measured without it."""

    collector: str  # its name in the spec
    program: str
    package: str  # that brings it; empty where it is unknown


def missing_tools(stages: Iterable[PlannedStage], site: Site) -> Iterator[MissingTool]:
    """Look for the programs of collectors, each collector once; one of a build is looked for when that is made."""
    steps = (step for stage in stages for step in stage.steps)
    collectors: dict[str, Mapping[str, Any]] = {str(o["name"]): o for step in steps for o in step.setup.collectors}
    for name, options in collectors.items():
        if kind := options.get("collector"):
            collector = COLLECTORS.get(str(kind))
            program, package = site.tool(collector.tool), collector.package
        else:
            program, package = str(options["command"][0]), ""
        if (kind or "{" not in program) and not shutil.which(program):
            yield MissingTool(name, program, package)


# Folders of results and databases


def folder_findings(store: Store) -> Iterator[HostFinding]:
    yield _writable("outputs", store.root)
    data = store.root if store.data == store.root else store.data.parent
    if data != store.root:
        yield _writable("data", data)
    yield _free_space(data)
    yield _trial("reflinks", data, _can_reflink, ("has them", ": images are hard-linked or copied"))
    yield _trial("direct IO", data, _can_write_direct, ("has it", ": options that ask for it fail"))


def _writable(name: str, folder: Path) -> HostFinding:
    existing = disk.existing(folder)
    inner = [path for path in existing.iterdir() if path.is_dir()] if existing == folder.absolute() else []
    closed = next((path for path in (existing, *inner) if not os.access(path, os.W_OK | os.X_OK)), None)
    if closed is not None:
        mend = f"sudo chown -R $USER {closed}, or another folder"
        return HostFinding(name, STOPS, f"{closed} cannot be written", str(closed), "writable", mend)
    return HostFinding(name, OK, f"{folder.absolute()} can be written", str(folder.absolute()))


def _free_space(folder: Path) -> HostFinding:
    usage = os.statvfs(disk.existing(folder))
    free, total = usage.f_bavail * usage.f_frsize, usage.f_blocks * usage.f_frsize
    if not total:
        return HostFinding.unknown("free space")
    is_low = free < LEAST_FREE * total
    text, expected = f"{size(free)} of {size(total)}", f"at least {percent(LEAST_FREE)}"
    mend = "stepgrid gc --yes && stepgrid gc --empty" if is_low else ""
    return HostFinding("free space", WARNING if is_low else OK, text, free, expected, mend)


def _trial(name: str, folder: Path, can: Callable[[Path], bool], words: tuple[str, str]) -> HostFinding:
    """Try an ability of a file system with a small file."""
    try:
        with tempfile.TemporaryDirectory(dir=disk.existing(folder), prefix=".stepgrid-") as inner:
            works = can(Path(inner))
    except OSError as error:
        return HostFinding.unknown(name, f"cannot be tried: {error.strerror}")
    filesystem = mount.filesystem if (mount := disk.mount(folder)) else "this file system"
    if works:
        return HostFinding(name, OK, f"{filesystem} {words[0]}", works)
    return HostFinding(
        name, WARNING, f"{filesystem} has none{words[1]}", works, mend="use another file system, such as xfs"
    )


def _can_reflink(folder: Path) -> bool:
    (folder / "a").write_bytes(b"x" * BLOCK)
    with (folder / "a").open("rb") as source, (folder / "b").open("wb") as target:
        try:
            fcntl.ioctl(target, FICLONE, source.fileno())
        except OSError:
            return False
    return True


def _can_write_direct(folder: Path) -> bool:
    try:
        os.close(os.open(folder / "direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError:
        return False
    return True


# The system


def system_findings() -> Iterator[HostFinding]:
    users = locks.host_users()
    text = f"{locks.host_lock_path()}: {', '.join(users) if users else 'free'}"
    yield HostFinding("host lock", OK, text, users)
    yield _memory_limits()
    if cgroup.can_find():
        yield HostFinding("supervision", OK, "a cgroup for each step", True)
    else:
        text = "process groups only: a daemon that a step leaves behind goes on"
        mend = "systemd-run --user --scope -p Delegate=yes stepgrid run …"
        yield HostFinding("supervision", WARNING, text, False, "a cgroup", mend)
    yield _perf_counters()
    yield _clock()


def _speed(store: Store) -> HostFinding:
    """Show the figures that go with the results of today; doctor itself disturbs nobody with a measurement."""
    speed = recorded_speed(store.data, locks.host_lock_path())
    if not speed:
        return HostFinding.unknown("speed", "not measured today; the next measured stage does it")
    texts = [f"{word} {speed[name]:g} {unit}" for name, (word, unit) in SPEEDS.items() if name in speed]
    return HostFinding("speed", OK, ", ".join(texts), speed)


def _memory_limits() -> HostFinding:
    ways = [] if launch.scope_refusal(launch.SCOPE) else ["systemd-run --user --scope"]
    ways += ["a cgroup of our own"] if cgroup.can_limit() else []
    if ways:
        return HostFinding("memory limits", OK, f"by {' or '.join(ways)}", ways)
    mend = "loginctl enable-linger $USER, or leave `launch: {memory}` out"
    text = "neither systemd-run nor a cgroup of our own can set them"
    return HostFinding("memory limits", WARNING, text, ways, "", mend)


def _perf_counters() -> HostFinding:
    level, expected = sysfs.number("proc/sys/kernel/perf_event_paranoid"), f"at most {PARANOID}"
    if level is None:
        return HostFinding.unknown("perf counters", expected=expected)
    if not any(name.startswith(("cpu", "armv8")) for name in sysfs.names("sys/bus/event_source/devices")):
        text, mend = "this host has no counters of the processor", "use a host that has them"
        return HostFinding("perf counters", WARNING, text, level, mend=mend)
    mend = "" if level <= PARANOID else f"sudo sysctl kernel.perf_event_paranoid={PARANOID}"
    text = f"kernel.perf_event_paranoid is {level}"
    return HostFinding("perf counters", WARNING if mend else OK, text, level, expected, mend)


def _clock() -> HostFinding:
    expected = "synchronized by NTP"
    buffer = ctypes.create_string_buffer(256)  # modes 0: nothing is set
    if sys.maxsize < 1 << 32 or ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
        return HostFinding.unknown("clock", expected=expected)
    if int.from_bytes(buffer.raw[STATUS_OFFSET : STATUS_OFFSET + 4], sys.byteorder) & UNSYNCHRONIZED:
        return HostFinding("clock", WARNING, "not synchronized", False, expected, "timedatectl set-ntp true")
    return HostFinding("clock", OK, expected, True, expected)


def _program_findings(site: Site, needed: Mapping[str, str]) -> Iterator[HostFinding]:
    """Look for programs; a missing one that a plan needs stops a run."""
    for name in {**USES, **needed}:
        if path := shutil.which(site.tool(name)):
            yield HostFinding(name, OK, path, path)
        else:
            mend = f"sudo apt install {PACKAGES.get(name, name)}, or `tools:` of a site file"
            severity = STOPS if name in needed else WARNING
            yield HostFinding(name, severity, f"not installed; needed for {needed.get(name) or USES[name]}", mend=mend)
