"""A private apt: lists, state and cache of its own, one suite, no root; apt checks signatures and checksums."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.apt.control_format import stanzas
from stepgrid.build.apt.error_messages import INSTEAD, explain_download, explain_source, explain_update
from stepgrid.build.apt.mirrors import Mirror, mirrors
from stepgrid.build.command_runner import CommandResult, Commands
from stepgrid.build.error import BuildError

LIST_SECONDS, DOWNLOAD_SECONDS = 300.0, 1800.0

# read after the machine's own configuration, so that its proxies, credentials and certificates stay in force
_CONFIG = """\
Dir::State "{tree}/state";
Dir::State::lists "{tree}/lists";
Dir::State::status "{tree}/status";
Dir::Cache "{tree}/cache";
Dir::Cache::archives "{tree}/archives";
Dir::Log "{tree}/log";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{tree}/sources";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "";
APT::Default-Release "";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Acquire::GzipIndexes "false";
Acquire::Retries "2";
Debug::NoLocking "true";
Dpkg::Use-Pty "false";
quiet "2";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


@dataclass(frozen=True, slots=True)
class Tree:
    folder: Path
    commands: Commands
    architecture: str
    types: str = "deb"  # what its lists hold: binary packages; `deb-src`: source packages

    def update(self, mirrors: Sequence[Mirror], suite: str) -> None:
        """Fetches the lists of a suite from the first mirror that has it."""
        if not mirrors:
            raise BuildError(
                f"apt knows no mirror of distribution packages (looked in /etc/apt/sources.list*): {INSTEAD}"
            )
        complaint = self._update(mirrors[0], suite)
        for mirror in mirrors[1:]:
            if complaint and not self._update(mirror, suite):
                return
        if complaint:
            raise BuildError(explain_update(suite, complaint))

    def download(self, packages: Sequence[str], suite: str) -> list[Path]:
        """The packages and all that they depend on, libc included: .deb files that match the signed index."""
        done = self._apt("apt-get", "install", "--download-only", *packages, seconds=DOWNLOAD_SECONDS)
        if done.status:
            names = self._apt("apt-cache", "pkgnames", quiet=True).stdout.split()
            raise BuildError(explain_download(packages, suite, self.architecture, names, done.stdout + done.stderr))
        return sorted((self.folder / "archives").glob("*.deb"))

    def download_alone(self, package: str, suite: str) -> Path:
        """One package without what it depends on, into the folder of the commands."""
        done = self._apt("apt-get", "download", package, seconds=DOWNLOAD_SECONDS)
        if done.status:
            raise BuildError(explain_download([package], suite, self.architecture, [], done.stdout + done.stderr))
        return next(self.commands.folder.glob(f"{package}_*.deb"))

    def download_source(self, package: str, version: str, suite: str) -> Path:
        """A source package's files, into a folder of their own, which match the signed index; gives the .dsc file."""
        into = self.folder / "source"
        into.mkdir()
        wanted = f"{package}={version}" if version else package
        done = self._apt("apt-get", "source", "--download-only", wanted, seconds=DOWNLOAD_SECONDS, cwd=into)
        found = sorted(into.glob("*.dsc"))
        if done.status or len(found) != 1:
            raise BuildError(explain_source(package, version, suite, self._sources, done.stdout + done.stderr))
        return found[0]

    def _sources(self) -> dict[str, list[str]]:
        """The source packages of the lists, each with its versions."""
        found: dict[str, list[str]] = {}
        for path in (self.folder / "lists").glob("*_Sources"):
            for fields in stanzas(path.read_text(encoding="utf-8", errors="replace")):
                found.setdefault(fields["package"], []).append(fields["version"])
        return found

    def checksums(self, packages: Sequence[str]) -> dict[tuple[str, str], str]:
        """(name, version) -> the sha256 that the signed index says."""
        shown = stanzas(self._apt("apt-cache", "show", *packages, quiet=True).stdout)
        return {(s["package"], s["version"]): s["sha256"] for s in shown if "sha256" in s}

    def release(self) -> dict[str, str]:
        """What the suite says of itself: codename, date …"""
        for path in sorted((self.folder / "lists").glob("*Release")):
            for fields in stanzas(path.read_text(encoding="utf-8", errors="replace")):
                if "codename" in fields:
                    return fields
        return {}

    def _update(self, mirror: Mirror, suite: str) -> str:
        """What apt complains of; nothing when all is well."""
        for name in ("state", "lists/partial", "cache", "archives/partial", "log", "sources"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "apt.conf").write_text(_CONFIG.format(tree=self.folder.resolve()), encoding="utf-8")
        source = mirror.source(suite, self.architecture, self.types)
        (self.folder / "sources" / "suite.sources").write_text(source, encoding="utf-8")
        done = self._apt("apt-get", "update")
        return done.stdout + done.stderr if done.status else ""

    def _apt(
        self, program: str, *arguments: str, seconds: float = LIST_SECONDS, quiet: bool = False, cwd: Path | None = None
    ) -> CommandResult:
        configured = [program, "-c", str(self.folder.resolve() / "apt.conf"), *arguments]
        return self.commands.run(configured, seconds, quiet, cwd)


def lacking() -> list[str]:
    """The programs of a Debian that this machine has not."""
    return [tool for tool in ("apt-get", "apt-cache", "dpkg", "dpkg-deb") if not shutil.which(tool)]


def of_suite(folder: Path, commands: Commands, suite: str, types: str = "deb") -> Tree:
    """With the lists of a suite of the machine's own mirrors."""
    tree = Tree(folder, commands, architecture(commands), types)
    tree.update(mirrors(), suite)
    return tree


def architecture(commands: Commands) -> str:
    """Debian's name of the machine's: amd64, arm64 …"""
    return commands.run(["dpkg", "--print-architecture"], LIST_SECONDS).stdout.strip()
