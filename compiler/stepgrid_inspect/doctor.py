"""stepgrid doctor [SPEC]: checks of this host, and of what a plan needs of it, with the commands that fix them."""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.cli.failures import unless_busy
from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host import activity, disk, facts, locks, sysfs
from stepgrid.host.failure import StageError
from stepgrid.host.files import FICLONE
from stepgrid.host.locks import host_lock_path, locked
from stepgrid.host.noise import look
from stepgrid.host.processes import cgroup, launch
from stepgrid.host.speed import SPEEDS, recorded_speed
from stepgrid.host.terminal_output import Paint, text_width, wrap
from stepgrid.host.tuning import count_files, restore
from stepgrid.language.site import current_site
from stepgrid.language.sources import source_parts
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.records import OK, STOPS, UNKNOWN, WARNING, HostFinding, LaunchRequest
from stepgrid.model.site import Site
from stepgrid.model.units import counted, percent, size
from stepgrid.run import client_host
from stepgrid.store.store import Store
from stepgrid.summarize import formats
from stepgrid.workflow import host_plan
from stepgrid.workflow.missing_tools import (
    PACKAGES,
    build_tools,
    launch_line,
    missing_client,
    missing_tools,
    names_with_libraries,
    placement,
)

NAME_WIDTH = 14
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
_STYLES = {STOPS: "red", WARNING: "yellow"}


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="also check what this spec needs: hardware, programs")
    add_narrowing(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help="list everything, also what is fine")
    parser.add_argument(
        "--restore", action="store_true", help="restore host settings that a killed `noise: fix` run changed"
    )


def run_doctor(args: argparse.Namespace) -> int:
    if args.restore:
        return _restore_settings()
    if errors := [problem for problem in use_site(args) if problem.severity == "error"]:
        raise spec_error(errors[0].where.file, errors)
    plan = quiet_plan(args) if args.spec else None
    checked = list(sections(host_plan.store(), current_site(), plan))
    findings = [finding for section in checked for finding in section.findings]
    if args.format == "json":
        objects = [
            {"title": section.title, "findings": [finding.to_json() for finding in section.findings]}
            for section in checked
        ]
        print(formats.json_text({"sections": objects, "verdict": verdict(findings)}))
    else:
        paint, width = Paint.for_stream(sys.stdout), text_width(sys.stdout, WIDTH)
        print("\n".join(finding_lines(findings, args.all, width, paint)))
    return FAILED if any(finding.severity == STOPS for finding in findings) else FINE


def _restore_settings() -> int:
    sentence = "a run is measuring (process {}); it restores its settings when it ends"
    with unless_busy(sentence), locked(host_lock_path(), shared=True, wait=False):
        restored, failures = restore(host_lock_path())
    print(f"restored: {count_files(restored)}" if restored else "nothing to restore")
    for sentence in failures:
        print(f"not restored: {sentence}")
    return FAILED if failures else FINE


def finding_lines(findings: Sequence[HostFinding], with_fine: bool, width: int, paint: Paint) -> Iterator[str]:
    """Show the verdict, then problems with what fixes them, then what is unknown; what is fine is counted or listed."""
    fine = sum(finding.severity == OK for finding in findings)
    yield f"{verdict(findings)}, {fine} fine{'' if with_fine else ' (--all lists them)'}"
    problems = sorted(
        (finding for finding in findings if finding.severity in _STYLES),
        key=lambda finding: finding.severity == WARNING,
    )
    if problems:
        yield ""
    for finding in problems:
        yield from _problem_lines(finding, width, paint)
    unknown: dict[str, list[str]] = {}
    for finding in findings:
        if finding.severity == UNKNOWN:
            unknown.setdefault(finding.text, []).append(finding.name)
    if unknown:
        yield ""
    for text, names in unknown.items():
        yield from wrap(f"{', '.join(names)}: {text}", "unknown  ", " " * 9, width)
    if with_fine:
        yield ""
    for finding in findings if with_fine else ():
        if finding.severity == OK:
            first = f"fine     {finding.name:<{NAME_WIDTH}} "
            first_line, *following = wrap(finding.text, first, " " * len(first), width)
            yield from (paint(first_line[:4], "green") + first_line[4:], *following)


def _problem_lines(finding: HostFinding, width: int, paint: Paint) -> Iterator[str]:
    first = f"{finding.severity:<8} {finding.name:<{NAME_WIDTH}} "
    expectation = f"; expected: {finding.expected}" if finding.expected else ""
    first_line, *following = wrap(f"{finding.text}{expectation}", first, " " * len(first), width)
    word = len(finding.severity)
    yield paint(first_line[:word], _STYLES[finding.severity]) + first_line[word:]
    yield from following
    if finding.mend:
        yield from wrap(f"fix: {finding.mend}", " " * len(first), " " * (len(first) + 5), width)


def verdict(findings: Sequence[HostFinding]) -> str:
    stops, warnings, unknown = (
        sum(finding.severity == severity for finding in findings) for severity in (STOPS, WARNING, UNKNOWN)
    )
    start = f"{counted(stops, 'problem')} would stop a run" if stops else "nothing would stop a run"
    return f"{start}; {counted(warnings, 'warning')}, {unknown} unknown"


# The sections


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
    if names_with_libraries(plan, store) and (lack := missing_client(site)):
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


def needed_programs(plan: Plan, built: Iterable[str]) -> dict[str, str]:
    """Map the programs that stages and builds need to their purpose; builds that are made need none."""
    builds = [build for build in plan.builds if build.id not in set(built)]
    programs = {tool: f"the build {build.name}" for build in builds for tool in build_tools(build)}
    for options in _launches(plan.stages):
        if options.numa and launch.numa_nodes() > 1:
            programs["numactl"] = USES["numactl"]
        if options.cpus:
            programs["taskset"] = USES["taskset"]
    return programs


def _launches(stages: Iterable[PlannedStage]) -> list[LaunchRequest]:
    return [step.setup.launch for stage in stages for step in stage.steps]


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


def _client_finding(site: Site) -> HostFinding:
    """Reach the machine of the clients, and measure the network."""
    assert site.client is not None
    mend = f"`{site.tool('ssh')} {site.client.host}` must answer without a question, and reach {site.client.listen}"
    try:
        client = client_host.reach(site)
    except StageError as error:
        return HostFinding("clients", STOPS, str(error), mend=mend)
    assert client is not None
    facts, network = client.facts, client.network
    text = f"{counted(facts.cores, 'core')}, {network.rtt_us / 1000:.2g} ms (p99 {network.rtt_p99_us / 1000:.2g} ms)"
    text += f", {network.bytes_per_s * 8 / 1e9:.2g} Gbit/s, Python {facts.python}, {facts.libc}"
    if facts.architecture != platform.machine():
        text += f": programs of {platform.machine()} do not run on {facts.architecture}"
        return HostFinding("clients", STOPS, text, client.record(), mend="use a machine of the same architecture")
    versions = [
        [int(part) for part in re.findall(r"\d+", libc)] for libc in (" ".join(platform.libc_ver()), facts.libc)
    ]
    if versions[1] < versions[0]:
        mend = f"builds from source may need {' '.join(platform.libc_ver())}: take packages, which bring theirs along"
        return HostFinding("clients", WARNING, text, client.record(), mend=mend)
    return HostFinding("clients", OK, text, client.record())


def _program_findings(site: Site, needed: Mapping[str, str]) -> Iterator[HostFinding]:
    """Look for programs; a missing one that a plan needs stops a run."""
    if site.client:
        yield _client_finding(site)
    for name in {**USES, **needed}:
        if path := shutil.which(site.tool(name)):
            yield HostFinding(name, OK, path, path)
        else:
            mend = f"sudo apt install {PACKAGES.get(name, name)}, or `tools:` of a site file"
            severity = STOPS if name in needed else WARNING
            yield HostFinding(name, severity, f"not installed; needed for {needed.get(name) or USES[name]}", mend=mend)
