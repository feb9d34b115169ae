"""A Debian source package of any suite of the machine's own mirror: the upstream tree, with Debian's patches."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.apt.control_format import stanzas
from stepgrid.build.apt.error_messages import INSTEAD
from stepgrid.build.apt.private_apt import of_suite
from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact, Material
from stepgrid.build.sources.checksum import checked
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

_SECONDS = 600.0
_ADVICE = "a suite moves on: declare the version that it has now, or choose another suite"


class DebianSource:
    route = "debian-source"

    def describe(self, source: Mapping[str, Json]) -> str:
        version = f" {source['version']}" if "version" in source else ""
        return f"{self.route} {source[self.route]}{version} ({source.get('suite')})"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        if not all(map(shutil.which, ("apt-get", "dpkg"))):
            raise BuildError(f"`source: debian-source` needs a Debian machine: there is no apt-get on PATH; {INSTEAD}")
        package, suite = str(source[self.route]), str(source["suite"])
        tree = of_suite(into / ".apt", order.commands, suite, "deb-src")
        description = tree.download_source(package, str(source.get("version", "")), suite)
        version = _version(description)
        digest = checked(description, source, order)
        patched = str(source.get("patched", "true")) == "true"
        _unpack(description, into / "tree", patched, order)
        release = tree.release()
        shutil.rmtree(tree.folder)
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(package, version, digest),),
            quality={"route": "source"},
            facts={"suite": release.get("codename", suite), "package": f"{package} {version}", "patched": patched},
            advice=_ADVICE,
        )


def _version(description: Path) -> str:
    """A .dsc file may be signed: then its fields stand in a frame."""
    for fields in stanzas(description.read_text(encoding="utf-8", errors="replace")):
        if "version" in fields and "source" in fields:
            return fields["version"]
    raise BuildError(f"{description.name} describes no source package")


def _unpack(description: Path, tree: Path, patched: bool, order: Order) -> None:
    """dpkg-source checks the other files against the description, which apt checked against the signed index."""
    options = ["--require-strong-checksums", "--no-copy", *([] if patched else ["--skip-patches"])]
    argv = [require(order, "dpkg-source"), *options, "-x", str(description.absolute()), str(tree.absolute())]
    done = order.commands.run(argv, _SECONDS, cwd=description.parent)
    if done.status:
        said = [line for line in done.stderr.splitlines() if "error: " in line] or [f"exit status {done.status}"]
        raise BuildError(f"{description.name} cannot be unpacked: {said[0].rpartition('error: ')[2]}")
