"""What a test needs of the machine. Where the machine lacks it the test is skipped, and the end of the run says why."""

import functools
import os
import re
import shutil
import subprocess

import pytest

from stepgrid.host.disk import missing_for_power_cut
from tests.packages import missing, packages
from tests.registries import REGISTRIES, unreachable

SMALL_DISKS, POWER_DISKS = "small disks", "power disks"
_ABSENT = re.compile(r"this machine has no (.+)$")


def needs(*names):
    """Programs by name, registries (tests/registries.py), `small disks` or `power disks`; looked for when needed."""
    return pytest.mark.needs(*names)


def require(*names):
    """The same for a fixture."""
    if reason := lacking(names):
        pytest.skip(reason)


def lacking(names):
    """Why a test cannot run here, empty where it can."""
    wanted = dict.fromkeys(names)
    programs = [program for name in wanted for program in _programs(name)]
    if absent := missing(programs):
        return f"this machine has no {', '.join(absent)}"
    if SMALL_DISKS in wanted and not _mounts():
        return "this host allows no mount in a user namespace"
    if POWER_DISKS in wanted and (reason := missing_for_power_cut()):
        return f"this host cannot cut the power of a disk: {reason}"
    return next(filter(None, (unreachable(name) for name in wanted if name in REGISTRIES)), "")


def may_profile():
    """Whether perf may look at processes of ours."""
    command = ["perf", "stat", "-e", "task-clock", "-p", str(os.getpid()), "--timeout", "10"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _programs(name):
    if name in (SMALL_DISKS, POWER_DISKS):
        return ("unshare", "mount") if name == SMALL_DISKS else ()
    return (REGISTRIES[name].program,) if name in REGISTRIES else (name,)


@functools.cache
def _mounts():
    argv = ["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def report(reasons):
    """The reasons of all skipped tests, most tests first, and what would install all that is missing."""
    for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0])):
        yield f"{count} skipped: {reason}"
    absent = {name for reason in reasons if (said := _ABSENT.search(reason)) for name in said[1].split(", ")}
    if found := packages(absent):
        yield f"to install what is missing: {_installing(found)}"


def _installing(found):
    listed = " ".join(found)
    return f"sudo apt-get install {listed}" if shutil.which("apt-get") else f"the packages {listed} (names of Debian)"
