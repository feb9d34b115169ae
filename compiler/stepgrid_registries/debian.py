"""Debian packages of any suite, binary or source, from the machine's own mirror and without root."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.build.apt import INSTEAD, LIST_SECONDS, PrivateApt, fetch_suite, missing_tools, stanzas, unpack_packages
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json, listed_texts

_SOURCE_SECONDS = 600.0
_ADVICE = "a suite moves on: declare the version that it has now, or choose another suite"


class Debian:
    """Ready packages: unpacked into a prefix, started by their own loader."""

    route = "debian"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"debian {' '.join(listed_texts(source['debian']))} ({source.get('suite')})"

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        """Return the series that a suite has: a mirror replaces one release of it by the next."""
        _refuse_other_systems()
        name, suite = listed_texts(source["debian"])[0], str(source["suite"])
        apt = fetch_suite(order.folder / f"apt-{suite}", order.commands, suite)
        # 1:10.11.11-0+deb12u1, 1.0.20+ds-5; 18~beta1-1 is no release
        matches = [re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)(?![\d.~])", version) for _, version in apt.checksums([name])]
        if not matches:
            raise BuildError(f"suite {suite} has no package {name}: choose a suite that has it")
        return [match[1].rpartition(".")[0] or match[1] for match in matches if match]

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        _refuse_other_systems()
        names, suite, commands = listed_texts(source["debian"]), str(source["suite"]), order.commands
        apt = fetch_suite(into / "apt", commands, suite)
        packages = _keep_packages(apt, names, suite, into / "debs")
        release = apt.release()
        unpack_packages(sorted((into / "debs").iterdir()), into / "prefix", commands)
        shutil.rmtree(apt.folder)
        codename = release.get("codename", suite)
        return Material(
            prefix=into / "prefix",
            artifacts=packages,
            # a suite stands for its compiler and its flags
            quality={"route": self.route, "suite": codename, "architecture": apt.architecture},
            facts={"suite": codename, "suite_date": release.get("date"), "architecture": apt.architecture},
            advice=_ADVICE,
        )


def _refuse_other_systems() -> None:
    if missing := missing_tools():
        raise BuildError(f"`source: debian` needs a Debian machine: there is no {missing[0]} on PATH; {INSTEAD}")


def _keep_packages(apt: PrivateApt, names: Sequence[str], suite: str, target: Path) -> tuple[Artifact, ...]:
    """Move the .deb files into the build, since old versions vanish from mirrors; the named packages come first."""
    files = apt.download(names, suite)
    target.mkdir()
    packages = [read_package(apt.commands, file.rename(target / file.name)) for file in files]
    expected = apt.checksums([f"{package.name}={package.version}" for package in packages])
    for package in packages:
        if expected.get((package.name, package.version)) != package.digest:
            raise BuildError(f"{package.name} {package.version} is not the file that the index of suite {suite} says")
    return tuple(sorted(packages, key=lambda package: package.name not in names))


def read_package(commands: Commands, file: Path) -> Artifact:
    result = commands.run(["dpkg-deb", "-f", str(file.resolve()), "Package", "Version"], LIST_SECONDS)
    fields = dict(line.split(": ", 1) for line in result.stdout.splitlines() if ": " in line)
    if result.status or fields.keys() != {"Package", "Version"}:
        raise BuildError(f"{file.name} is no Debian package: {result.stderr.strip()}")
    return Artifact(fields["Package"], fields["Version"], sha256(file))


class DebianSource:
    """A source package: the upstream tree, with Debian's patches or without."""

    route = "debian-source"

    def describe(self, source: Mapping[str, Json]) -> str:
        version = f" {source['version']}" if "version" in source else ""
        return f"{self.route} {source[self.route]}{version} ({source.get('suite')})"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        if not all(map(shutil.which, ("apt-get", "dpkg"))):
            raise BuildError(f"`source: debian-source` needs a Debian machine: there is no apt-get on PATH; {INSTEAD}")
        package, suite = str(source[self.route]), str(source["suite"])
        apt = fetch_suite(into / ".apt", order.commands, suite, "deb-src")
        description = apt.download_source(package, str(source.get("version", "")), suite)
        version = source_version(description)
        digest = verify_checksum(description, source, order)
        patched = str(source.get("patched", "true")) == "true"
        _unpack_source(description, into / "tree", patched, order)
        release = apt.release()
        shutil.rmtree(apt.folder)
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(package, version, digest),),
            quality={"route": "source"},
            facts={"suite": release.get("codename", suite), "package": f"{package} {version}", "patched": patched},
            advice=_ADVICE,
        )


def source_version(description: Path) -> str:
    """Read the version of a .dsc file, whose fields stand in a frame where it is signed."""
    for fields in stanzas(description.read_text(encoding="utf-8", errors="replace")):
        if "version" in fields and "source" in fields:
            return fields["version"]
    raise BuildError(f"{description.name} describes no source package")


def _unpack_source(description: Path, tree: Path, patched: bool, order: Order) -> None:
    """Unpack by dpkg-source, which checks all files against the description; apt checked that by the signed index."""
    options = ["--require-strong-checksums", "--no-copy", *([] if patched else ["--skip-patches"])]
    argv = [require(order, "dpkg-source"), *options, "-x", str(description.absolute()), str(tree.absolute())]
    result = order.commands.run(argv, _SOURCE_SECONDS, cwd=description.parent)
    if result.status:
        errors = [line for line in result.stderr.splitlines() if "error: " in line]
        message = errors[0].rpartition("error: ")[2] if errors else f"exit status {result.status}"
        raise BuildError(f"{description.name} cannot be unpacked: {message}")
