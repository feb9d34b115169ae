"""One package of the machine's own suite, unpacked: for what setup needs before there is an environment."""

from __future__ import annotations

import shutil
from pathlib import Path

from stepgrid.build.apt.mirrors import mirrors
from stepgrid.build.apt.package_extraction import unpack
from stepgrid.build.apt.private_apt import of_suite
from stepgrid.build.command_runner import Commands
from stepgrid.build.error import BuildError


def fetch(package: str, folder: Path) -> Path:
    """The prefix below `folder` that holds the package's files."""
    known = mirrors()
    if not shutil.which("apt-get") or not known:
        raise BuildError(f"this machine has no apt to fetch {package} with")
    commands = Commands(folder / "log", folder)
    suite = known[0].suites[0]
    tree = of_suite(folder / "apt", commands, suite)
    unpack([tree.download_alone(package, suite)], folder / "prefix", commands)
    return folder / "prefix"
