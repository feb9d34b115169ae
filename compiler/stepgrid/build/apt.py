"""A private apt: packages of one suite from the machine's own mirrors, without root, unpacked into a prefix.

Lists, state and cache are its own; apt checks signatures and checksums. Setup uses this module before there is an
environment: it imports the standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from stepgrid.build.commands import CommandResult, Commands
from stepgrid.build.error import BuildError

ETC = Path("/etc/apt")
LIST_SECONDS, DOWNLOAD_SECONDS, UNPACK_SECONDS = 300.0, 1800.0, 300.0
INSTEAD = "name a binary that is installed instead, `source: {system: PROGRAM}`"

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
_ONE_LINE = re.compile(
    r"^deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>(?!cdrom:)\S+)\s+(?P<suite>\S+)\s*(?P<components>[^#]*)"
)
_TRUST = ("signed-by", "trusted", "check-valid-until", "allow-insecure")  # how a mirror is trusted, not what it offers
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_UNUSED = ("doc", "doc-base", "info", "lintian", "locale", "man", "bug", "icons", "bash-completion")

_OFFLINE = r"Could not resolve|Could not connect|Cannot initiate|Connection|timed out|Temporary failure"
_AGAIN = "check the network, then run the same command again"
_UPDATE = {  # the first that apt's words match
    r"NO_PUBKEY|Missing key": "the mirror's suite {suite} is signed with a key that this machine does not know:"
    " install a newer archive keyring package of the distribution",
    r"required for verification": "apt checks signatures of suite {suite} with gpgv, which is not on PATH:"
    " install the package gpgv",
    r"is not signed": "the mirror's suite {suite} is not signed: use another mirror, or {instead}",
    r"does not have a Release file|404": "the mirror that apt is configured with has no suite {suite}:"
    " choose a suite that it has, or {instead}",
    r"No space left": "the disk is full: apt could not store the lists of suite {suite}",
    _OFFLINE: f"apt could not reach its mirror for suite {{suite}}: {_AGAIN}",
    r"is not valid yet|expired": "the lists of suite {suite} are out of date, or this machine's clock is wrong",
}
_DOWNLOAD = {
    r"No space left|enough free space": "the disk is full: apt could not store {packages} of suite {suite}",
    r"unmet dependencies|held broken": "{packages} of suite {suite} depends on packages that the suite lacks at the"
    " moment: try again later, choose another suite, or {instead}",
    r"Failed to fetch .* 404": "the mirror has a file of {packages} in its lists of suite {suite}, and not the file:"
    " try again later, or choose another suite",
    f"{_OFFLINE}|Failed to fetch": f"apt could not fetch {{packages}} of suite {{suite}} from its mirror: {_AGAIN}",
}
_MISSING = r"Unable to locate package (\S+)|Package '?(\S+?)'? has no installation candidate"


def missing_tools() -> list[str]:
    """List programs of a Debian that this machine has not."""
    return [tool for tool in ("apt-get", "apt-cache", "dpkg", "dpkg-deb") if not shutil.which(tool)]


def fetch_package(package: str, folder: Path) -> Path:
    """Fetch one package of the machine's own suite; return the prefix below `folder` that holds its files."""
    configured = configured_mirrors()
    if not shutil.which("apt-get") or not configured:
        raise BuildError(f"this machine has no apt to fetch {package} with")
    commands, suite = Commands(folder / "log", folder), configured[0].suites[0]
    apt = fetch_suite(folder / "apt", commands, suite)
    unpack_packages([apt.download_alone(package, suite)], folder / "prefix", commands)
    return folder / "prefix"


def fetch_suite(folder: Path, commands: Commands, suite: str, types: str = "deb") -> PrivateApt:
    """Fetch the lists of a suite from the machine's own mirrors."""
    apt = PrivateApt(folder, commands, architecture(commands), types)
    apt.update(configured_mirrors(), suite)
    return apt


def architecture(commands: Commands) -> str:
    """Return Debian's name of the machine's architecture: amd64, arm64 …"""
    return commands.run(["dpkg", "--print-architecture"], LIST_SECONDS).stdout.strip()


class PrivateApt(Struct, frozen=True):
    folder: Path
    commands: Commands
    architecture: str
    types: str = "deb"  # what its lists hold: binary packages; `deb-src`: source packages

    def update(self, mirrors: Sequence[Mirror], suite: str) -> None:
        """Fetch the lists of a suite from the first mirror that has it."""
        if not mirrors:
            raise BuildError(
                f"apt knows no mirror of distribution packages (looked in /etc/apt/sources.list*): {INSTEAD}"
            )
        complaints: list[str] = []
        for mirror in mirrors:
            result = self._update(mirror, suite)
            if not result.status:
                return
            complaints.append(result.stdout + result.stderr)
        raise BuildError(explain_update(suite, complaints[0]))

    def download(self, packages: Sequence[str], suite: str) -> list[Path]:
        """Fetch packages and all that they depend on, libc included: .deb files that match the signed index."""
        result = self._apt("apt-get", "install", "--download-only", *packages, seconds=DOWNLOAD_SECONDS)
        if result.status:
            names = self._apt("apt-cache", "pkgnames", quiet=True).stdout.split()
            output = result.stdout + result.stderr
            raise BuildError(explain_download(packages, suite, self.architecture, names, output))
        return sorted((self.folder / "archives").glob("*.deb"))

    def download_alone(self, package: str, suite: str) -> Path:
        """Fetch one package without what it depends on, into the folder of the commands."""
        result = self._apt("apt-get", "download", package, seconds=DOWNLOAD_SECONDS, cwd=self.commands.folder)
        if result.status:
            output = result.stdout + result.stderr
            raise BuildError(explain_download([package], suite, self.architecture, [], output))
        return next(self.commands.folder.glob(f"{package}_*.deb"))

    def download_source(self, package: str, version: str, suite: str) -> Path:
        """Fetch a source package's files, which match the signed index; return the .dsc file."""
        into = self.folder / "source"
        into.mkdir()
        name = f"{package}={version}" if version else package
        result = self._apt("apt-get", "source", "--download-only", name, seconds=DOWNLOAD_SECONDS, cwd=into)
        descriptions = sorted(into.glob("*.dsc"))
        if result.status or len(descriptions) != 1:
            raise BuildError(explain_source(package, version, suite, self._sources, result.stdout + result.stderr))
        return descriptions[0]

    def checksums(self, packages: Sequence[str]) -> dict[tuple[str, str], str]:
        """Return the sha256 of the signed index by name and version."""
        entries = stanzas(self._apt("apt-cache", "show", *packages, quiet=True).stdout)
        return {(entry["package"], entry["version"]): entry["sha256"] for entry in entries if "sha256" in entry}

    def release(self) -> dict[str, str]:
        """Return the fields of the suite's Release file: codename, date …"""
        for path in sorted((self.folder / "lists").glob("*Release")):
            for fields in stanzas(path.read_text(encoding="utf-8", errors="replace")):
                if "codename" in fields:
                    return fields
        return {}

    def _sources(self) -> dict[str, list[str]]:
        """Return the versions of each source package of the lists."""
        versions: dict[str, list[str]] = {}
        for path in (self.folder / "lists").glob("*_Sources"):
            for fields in stanzas(path.read_text(encoding="utf-8", errors="replace")):
                versions.setdefault(fields["package"], []).append(fields["version"])
        return versions

    def _update(self, mirror: Mirror, suite: str) -> CommandResult:
        for name in ("state", "lists/partial", "cache", "archives/partial", "log", "sources"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "apt.conf").write_text(_CONFIG.format(tree=self.folder.resolve()), encoding="utf-8")
        source = mirror.source(suite, self.architecture, self.types)
        (self.folder / "sources" / "suite.sources").write_text(source, encoding="utf-8")
        return self._apt("apt-get", "update")

    def _apt(
        self, program: str, *arguments: str, seconds: float = LIST_SECONDS, quiet: bool = False, cwd: Path | None = None
    ) -> CommandResult:
        argv = [program, "-c", str(self.folder.resolve() / "apt.conf"), *arguments]
        return self.commands.run(argv, seconds, quiet, cwd)


# Mirrors: read from apt's own files, named nowhere in stepgrid.


class Mirror(Struct, frozen=True):
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    trust: tuple[tuple[str, str], ...] = ()  # fields of a .sources stanza, as they are written

    @property
    def third_party(self) -> bool:
        """Tell it by its key: the distribution's archive signs with the distribution's keyring."""
        keyring = dict(self.trust).get("signed-by", "")
        return bool(keyring) and "archive-keyring" not in keyring

    def source(self, suite: str, architecture: str, types: str = "deb") -> str:
        """Write the stanza of a .sources file that offers one suite of this mirror."""
        trust = "".join(f"{name}: {value}\n" for name, value in self.trust)
        where = f"URIs: {self.uri}\nSuites: {suite}\nComponents: main\nArchitectures: {architecture}\n"
        return f"Types: {types}\n{where}{trust}"


def configured_mirrors(etc: Path = ETC) -> tuple[Mirror, ...]:
    """List the mirrors of distribution packages without duplicates, the distribution's own first."""
    unique: dict[tuple[str, object], Mirror] = {}
    for mirror in _configured_mirrors(etc):
        # security archives hold only what was mended: no suite is complete there
        updates = all(re.search(r"(-security|/updates)$", suite) for suite in mirror.suites)
        if "main" in mirror.components and not updates:
            unique.setdefault((mirror.uri.rstrip("/"), mirror.trust), mirror)
    return tuple(sorted(unique.values(), key=lambda mirror: mirror.third_party))


def _configured_mirrors(etc: Path) -> Iterator[Mirror]:
    parts = etc / "sources.list.d"
    one_line_files = [etc / "sources.list", *sorted(parts.glob("*.list"))]
    for path in (*one_line_files, *sorted(parts.glob("*.sources"))):
        with_stanzas = path.suffix == ".sources"
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield from deb822(text) if with_stanzas else one_line(text)


def one_line(text: str) -> Iterator[Mirror]:
    """Read the old format: deb [options] URI SUITE COMPONENT…"""
    for line in text.splitlines():
        if match := _ONE_LINE.match(line.strip()):
            options = (option.partition("=") for option in (match["options"] or "").split())
            trust = tuple((name.lower(), value) for name, _, value in options if name.lower() in _TRUST)
            yield Mirror(match["uri"], (match["suite"],), tuple(match["components"].split()), trust)


def deb822(text: str) -> Iterator[Mirror]:
    """Read the new format: stanzas with Types, URIs, Suites, Components."""
    for fields in stanzas(text):
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        trust = tuple((name, fields[name]) for name in _TRUST if name in fields)
        suites, components = fields.get("suites", "").split(), fields.get("components", "").split()
        for uri in fields.get("uris", "").split():
            yield Mirror(uri, tuple(suites), tuple(components), trust)


def stanzas(text: str) -> Iterator[dict[str, str]]:
    """Read Debian's control format; field names in lower case, continuation lines with their line breaks."""
    fields: dict[str, str] = {}
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif line[0] in " \t":
            if fields:
                fields[next(reversed(fields))] += "\n" + line
        elif not line.startswith("#"):
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip()


# Unpacking: a prefix that can be moved, which is one merged tree with relative links and without manuals.


def unpack_packages(packages: Iterable[Path], prefix: Path, commands: Commands) -> None:
    prefix.mkdir()
    for package in packages:
        result = commands.run(["dpkg-deb", "-x", str(package.resolve()), str(prefix.resolve())], UNPACK_SECONDS)
        if result.status:
            raise BuildError(f"{package.name} cannot be unpacked: {result.stderr.strip()}")
    merge_usr(prefix)
    relink(prefix)
    for name in _UNUSED:
        shutil.rmtree(prefix / "usr" / "share" / name, ignore_errors=True)


def merge_usr(prefix: Path) -> None:
    """Make /lib … links into /usr, as on an installed system: older suites have files in both."""
    for name in _MERGED:
        old, new = prefix / name, prefix / "usr" / name
        if old.is_dir() and not old.is_symlink():
            for link in _links(old):  # a relative one would point elsewhere from its new folder
                target = os.path.normpath(link.parent / link.readlink())
                if target.startswith(f"{prefix}/"):
                    _replace_link(link, target.removeprefix(str(prefix)))
            _merge(old, new)
        if new.is_dir() and not old.is_symlink():
            old.symlink_to(Path("usr") / name)


def relink(prefix: Path) -> None:
    """Make absolute links point into the prefix, wherever it is."""
    for link in _links(prefix):
        target = str(link.readlink())
        if target.startswith("/"):
            _replace_link(link, os.path.relpath(prefix / target.lstrip("/"), link.parent))


def _replace_link(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def _merge(old: Path, new: Path) -> None:
    new.mkdir(parents=True, exist_ok=True)
    for entry in sorted(old.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            _merge(entry, new / entry.name)
        else:
            entry.replace(new / entry.name)
    old.rmdir()


def _links(prefix: Path) -> Iterator[Path]:
    for folder, folders, files in list(os.walk(prefix)):
        yield from (path for name in (*folders, *files) if (path := Path(folder, name)).is_symlink())


# Errors: apt's complaints as sentences that say what to do.


def explain_update(suite: str, output: str) -> str:
    return _explain(_UPDATE, output, f"apt could not fetch the lists of suite {suite}", suite=suite)


def explain_download(packages: Sequence[str], suite: str, architecture: str, names: Iterable[str], output: str) -> str:
    """Explain a failed download; `names` are the packages of the suite."""
    if match := re.search(_MISSING, output):
        missing = next(group for group in match.groups() if group)
        hint = _suggest(missing, names)
        return (
            f"suite {suite} has no package {missing} for {architecture}{hint}: choose a suite that has it, or {INSTEAD}"
        )
    text = " ".join(packages)
    return _explain(_DOWNLOAD, output, f"apt could not fetch {text} of suite {suite}", suite=suite, packages=text)


def explain_source(
    package: str, version: str, suite: str, list_versions: Callable[[], Mapping[str, Sequence[str]]], output: str
) -> str:
    """Explain a failed download of a source package; `list_versions` reads the suite's packages and versions."""
    if re.search(r"[Cc]an not find version", output):
        versions = ", ".join(list_versions().get(package, ["another version"]))
        return f"suite {suite} has no {package} {version}, it has {versions}: a suite moves on"
    if re.search(r"Unable to find a source package", output):
        hint = _suggest(package, list_versions())
        return f"suite {suite} has no source package {package}{hint}: choose a suite that has it"
    default = f"apt could not fetch {package} of suite {suite}"
    return _explain(_DOWNLOAD, output, default, suite=suite, packages=package)


def _suggest(name: str, names: Iterable[str]) -> str:
    return "".join(f" (did you mean {match}?)" for match in get_close_matches(name, list(names), n=1))


def _explain(table: Mapping[str, str], output: str, default: str, **values: str) -> str:
    for pattern, sentence in table.items():
        if re.search(pattern, output):
            return sentence.format(instead=INSTEAD, **values)
    return default
