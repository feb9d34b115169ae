"""Packages of any suite of the machine's own Debian mirror: unpacked without root, started by their own loader."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.build.apt import private_apt
from stepgrid.build.apt.error_messages import INSTEAD
from stepgrid.build.apt.package_extraction import unpack
from stepgrid.build.apt.private_apt import LIST_SECONDS, Tree
from stepgrid.build.command_runner import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json

_ADVICE = "a suite moves on: declare the version that it has now, or choose another suite"


class Debian:
    route = "debian"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"debian {' '.join(_names(source))} ({source.get('suite')})"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        _require_tools()
        names, suite, commands = _names(source), str(source["suite"]), order.commands
        tree = private_apt.of_suite(into / "apt", commands, suite)
        packages = _keep(tree, names, suite, into / "debs")
        release = tree.release()
        unpack(sorted((into / "debs").iterdir()), into / "prefix", commands)
        shutil.rmtree(tree.folder)
        codename = release.get("codename", suite)
        return Material(
            prefix=into / "prefix",
            artifacts=packages,
            # a suite stands for its compiler and its flags
            quality={"route": self.route, "suite": codename, "architecture": tree.architecture},
            facts={"suite": codename, "suite_date": release.get("date"), "architecture": tree.architecture},
            advice=_ADVICE,
        )


def _names(source: Mapping[str, Json]) -> list[str]:
    value = source["debian"]
    return [str(name) for name in value] if isinstance(value, list) else [str(value)]


def _require_tools() -> None:
    if missing := private_apt.lacking():
        raise BuildError(f"`source: debian` needs a Debian machine: there is no {missing[0]} on PATH; {INSTEAD}")


def _keep(tree: Tree, names: Sequence[str], suite: str, target: Path) -> tuple[Artifact, ...]:
    """Moves the .deb files into the build: old versions vanish from mirrors."""
    files = tree.download(names, suite)
    target.mkdir()
    found = [_read(tree.commands, file.rename(target / file.name)) for file in files]
    expected = tree.checksums([f"{package.name}={package.version}" for package in found])
    for package in found:
        if expected.get((package.name, package.version)) != package.digest:
            raise BuildError(f"{package.name} {package.version} is not the file that the index of suite {suite} says")
    first = [package for package in found if package.name in names]
    return tuple(first + [package for package in found if package.name not in names])


def _read(commands: Commands, file: Path) -> Artifact:
    done = commands.run(["dpkg-deb", "-f", str(file.resolve()), "Package", "Version"], LIST_SECONDS)
    fields = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    if done.status or fields.keys() != {"Package", "Version"}:
        raise BuildError(f"{file.name} is no Debian package: {done.stderr.strip()}")
    return Artifact(fields["Package"], fields["Version"], sha256(file))
