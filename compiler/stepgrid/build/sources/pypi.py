"""A package of a Python index, by pip as the machine has it configured: a wheel's ready files, or a source archive."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.build.command_runner import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.fetch.archive_extraction import unpack
from stepgrid.build.source import Artifact, Material
from stepgrid.build.sources.checksum import checked
from stepgrid.build.sources.error_messages import complaint
from stepgrid.build.task import Order
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Json

SECONDS = 3600.0
WHEEL, SDIST = "wheel", "sdist"
_GUARD = str(Path(__file__).with_name("pip_guard.py"))
_ALONE = ("--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar=off")
_ONLY = {WHEEL: ("--only-binary=:all:",), SDIST: ("--no-binary=:all:", "--no-build-isolation")}
_NONE = r"from versions: none"
_OTHERS = re.compile(r"from versions: (?!none)([^)]+)\)")
_OF_PYTHON = "which wheel pip takes is up to its Python: name that one as `python` under `tools:` in the site file"
_COMPLAINTS = {
    r"No module named pip": "this Python has no pip: install it (Debian package python3-pip), or name a Python that has"
    " one as `python` under `tools:` in the site file",
    r"THESE PACKAGES DO NOT MATCH THE HASHES": "{what} arrived broken, with another checksum than its index says:"
    " run the same command again",
    r"\A(?![\s\S]*(?:Retrying|Connection|SSLError))[\s\S]*" + _NONE: "pip's index has no {what} for this machine:"
    " check the package's name, or choose the other `kind`",
}


class Pypi:
    route = "pypi"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"pypi {source[self.route]} {source.get('version', '')}".rstrip()

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source.get("version", ""))
        if not version:
            raise BuildError(f"`pypi: {name}` names no version: add `version:`")
        archive = _Download(name, version, into / ".pip", order).archive(str(source.get("kind", "")))
        wheel = archive.suffix == ".whl"
        artifact = Artifact(name, version, checked(archive, source, order, _OF_PYTHON if wheel else ""))
        target = into / ("prefix" if wheel else "tree")
        unpack(archive, target, strip=not wheel)
        shutil.rmtree(into / ".pip")
        return Material(
            prefix=target if wheel else None,
            tree=None if wheel else target,
            artifacts=(artifact,),
            quality={"route": self.route, "wheel": _tags(archive)} if wheel else {"route": "source"},
            facts={"file": archive.name},
            advice="a package's version is not that of what it carries: declare the version that it says",
        )


def _tags(wheel: Path) -> str:
    """For which Pythons and machines it was made: another of the same version may hold another compile."""
    return "-".join(wheel.stem.split("-")[-3:])


class _Download:
    def __init__(self, name: str, version: str, folder: Path, order: Order) -> None:
        self._wanted, self._version = f"{name}=={version}", version
        self._name, self._what = name, f"{name} {version}"
        self._folder, self._order = folder, order

    def archive(self, kind: str) -> Path:
        """Of no kind asked for a wheel, and where there is none for this machine the source."""
        tried = [self._fetched(each) for each in ([kind] if kind else [WHEEL, SDIST])]
        found = sorted(self._folder.glob("kept/*"))
        if len(found) != 1:
            raise self._complaint(tried[0])
        return found[0]

    def _fetched(self, kind: str) -> CommandResult:
        kept = self._folder / "kept"
        if any(kept.glob("*")):
            return CommandResult(0, "", "")
        kept.mkdir(parents=True, exist_ok=True)
        argv = ["download", *_ALONE, *_ONLY[kind], f"--dest={self._folder.absolute() / 'dest'}", self._wanted]
        done = self._pip(argv, kind == SDIST)
        for file in self._folder.glob("dest/*"):
            file.rename(kept / file.name)
        return done

    def _pip(self, argv: Sequence[str], inert: bool) -> CommandResult:
        python = self._order.site.tools.get("python", sys.executable)
        start = [_GUARD, self._name, str(self._folder.absolute() / "kept")] if inert else ["-m", "pip"]
        return self._order.commands.run([python, *start, *argv], SECONDS, cwd=self._folder)

    def _complaint(self, done: CommandResult) -> BuildError:
        if others := _OTHERS.search(done.stderr):
            known = others[1].split(", ")
            return BuildError(f"pip's index has no {self._what} for this machine; {nearest(self._version, known)}")
        return complaint("pip", self._what, done, _COMPLAINTS)
