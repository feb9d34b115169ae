"""Headers and static libraries that a compile wants of a distribution: unpacked beside the tree, not installed."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.apt.package_extraction import unpack
from stepgrid.build.apt.private_apt import lacking, of_suite
from stepgrid.build.source import Artifact
from stepgrid.build.task import Order
from stepgrid.host.files import sha256

SYSTEM = "system"  # those that are installed on the machine


@dataclass(frozen=True, slots=True)
class Development:
    folder: Path | None  # with include/ and lib/; None: the compilers find what is installed
    artifacts: tuple[Artifact, ...] = ()

    def search(self, cwd: Path) -> dict[str, str]:
        """Variables by which compilers and linkers look there first.

        Relative to the folder in which they run: ccache takes the variables for a part of what it compiles.
        """
        if self.folder is None:
            return {}
        paths = {"CPATH": self.folder / "include", "LIBRARY_PATH": self.folder / "lib"}
        return {name: os.path.relpath(path, cwd) for name, path in paths.items()}


def development(order: Order, packages: Sequence[str], suite: str | None = None) -> Development:
    """Of a suite, this machine's own by default; of the machine where it is no Debian, or when the spec says so."""
    chosen = suite or own_suite()
    if chosen is None or chosen == SYSTEM or lacking():
        order.commands.note(f"of the machine itself: {', '.join(packages)}")
        return Development(None)
    return _unpacked(order, packages, chosen)


def own_suite() -> str | None:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME") or None
    except OSError:
        return None


def _unpacked(order: Order, packages: Sequence[str], suite: str) -> Development:
    folder = order.folder / "devel"
    folder.mkdir()
    tree = of_suite(folder / "apt", order.commands, suite)
    files = [tree.download_alone(package, suite) for package in packages]
    artifacts = tuple(_artifact(file) for file in files)
    unpack(files, folder / "prefix", order.commands)
    _flatten(folder / "prefix" / "usr", folder)
    for left in (tree.folder, folder / "prefix"):
        shutil.rmtree(left)
    for file in files:
        file.unlink()
    return Development(folder, artifacts)


def _artifact(file: Path) -> Artifact:
    name, version, _ = file.stem.split("_")
    return Artifact(name, version.replace("%3a", ":"), sha256(file))


def _flatten(prefix: Path, folder: Path) -> None:
    """Static libraries only: a build must not need what the machine that runs it lacks."""
    shutil.copytree(prefix / "include", folder / "include")
    for headers in sorted((folder / "include").glob("*-linux-*")):
        shutil.copytree(headers, folder / "include", dirs_exist_ok=True)
        shutil.rmtree(headers)
    (folder / "lib").mkdir()
    for archive in _archives(prefix):
        shutil.copy2(archive, folder / "lib" / archive.name)


def _archives(prefix: Path) -> Iterator[Path]:
    for place in ("lib/*-linux-*", "lib"):
        yield from sorted(prefix.glob(f"{place}/*.a"))
