"""Packages of a Python index, by pip as the machine has it configured: a wheel's ready files, or a source archive."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from stepgrid.build.archive import unpack
from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Json
from stepgrid_registries.clients import REGISTRY_SECONDS, explain_client

WHEEL, SDIST = "wheel", "sdist"
_GUARD = str(Path(__file__).with_name("pip_guard.py"))
_QUIET = ("--no-input", "--disable-pip-version-check")
_ALONE = ("--no-deps", *_QUIET, "--progress-bar=off")
_KIND_OPTIONS = {WHEEL: ("--only-binary=:all:",), SDIST: ("--no-binary=:all:", "--no-build-isolation")}
_VERSIONS = re.compile(r"from versions: (?!none)([^)]+)\)")
_WHEEL_ADVICE = "which wheel pip takes is up to its Python: name that one as `python` under `tools:` in the site file"
_COMPLAINTS = {
    r"No module named pip": "this Python has no pip: install it (Debian package python3-pip), or name a Python that has"
    " one as `python` under `tools:` in the site file",
    r"THESE PACKAGES DO NOT MATCH THE HASHES": "{item} arrived broken, with another checksum than its index says:"
    " run the same command again",
    r"\A(?![\s\S]*(?:Retrying|Connection|SSLError))[\s\S]*(?:from versions: none|No matching distribution)": (
        "pip's index has no {item} for this machine: check the package's name, or choose the other `kind`"
    ),
}


class Pypi:
    route = "pypi"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"pypi {source[self.route]} {source.get('version', '')}".rstrip()

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        name, python = str(source[self.route]), order.site.tools.get("python", sys.executable)
        kind = {WHEEL: "--only-binary=:all:", SDIST: "--no-binary=:all:"}.get(str(source.get("kind", "")))
        argv = [python, "-m", "pip", "index", "versions", name, *_QUIET, *([kind] if kind else [])]
        result = order.commands.run(argv, REGISTRY_SECONDS)
        if match := re.search(r"^Available versions: (.+)$", result.stdout, re.MULTILINE):
            return match[1].split(", ")
        raise explain_client("pip", name, result, _COMPLAINTS)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source.get("version", ""))
        if not version:
            raise BuildError(f"`pypi: {name}` names no version: add `version:`")
        archive = _Download(name, version, into / ".pip", order).fetch(str(source.get("kind", "")))
        wheel = archive.suffix == ".whl"
        artifact = Artifact(name, version, verify_checksum(archive, source, order, _WHEEL_ADVICE if wheel else ""))
        target = into / ("prefix" if wheel else "tree")
        unpack(archive, target, strip=not wheel)
        shutil.rmtree(into / ".pip")
        # Pythons and machines of the wheel: another of the same version may hold another compile
        tags = "-".join(archive.stem.split("-")[-3:])
        return Material(
            prefix=target if wheel else None,
            tree=None if wheel else target,
            artifacts=(artifact,),
            quality={"route": self.route, "wheel": tags} if wheel else {"route": "source"},
            facts={"file": archive.name},
            advice="a package's version is not that of what it carries: declare the version that it says",
        )


class _Download(Struct, frozen=True):
    name: str
    version: str
    folder: Path
    order: Order

    def fetch(self, kind: str) -> Path:
        """Fetch an archive of this kind; without one a wheel, or the source where no wheel is for this machine."""
        failures: list[CommandResult] = []
        for chosen in [kind] if kind else [WHEEL, SDIST]:
            result = self._download(chosen)
            files = sorted(self.folder.glob("kept/*"))
            if len(files) == 1:
                return files[0]
            failures.append(result)
        output, item = failures[0], f"{self.name} {self.version}"
        if versions := _VERSIONS.search(output.stderr):
            hint = nearest(self.version, versions[1].split(", "))
            raise BuildError(f"pip's index has no {item} for this machine; {hint}")
        raise explain_client("pip", item, output, _COMPLAINTS)

    def _download(self, kind: str) -> CommandResult:
        folder, target = self.folder.absolute(), self.folder / "kept"
        target.mkdir(parents=True, exist_ok=True)
        python = self.order.site.tools.get("python", sys.executable)
        program = [_GUARD, self.name, str(folder / "kept")] if kind == SDIST else ["-m", "pip"]
        options = [*_ALONE, *_KIND_OPTIONS[kind], f"--dest={folder / 'dest'}"]
        argv = [python, *program, "download", *options, f"{self.name}=={self.version}"]
        result = self.order.commands.run(argv, REGISTRY_SECONDS)
        for file in self.folder.glob("dest/*"):
            file.rename(target / file.name)
        return result
