"""Which mirrors this machine is configured for: read from apt's own files, named nowhere here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.apt.control_format import stanzas

ETC = Path("/etc/apt")
_LINE = re.compile(
    r"^deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>(?!cdrom:)\S+)\s+(?P<suite>\S+)\s*(?P<components>[^#]*)"
)
_KEPT = ("signed-by", "trusted", "check-valid-until", "allow-insecure")  # how a mirror is trusted, not what it offers


@dataclass(frozen=True, slots=True)
class Mirror:
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    trust: tuple[tuple[str, str], ...] = ()  # fields of a .sources stanza, as they are written

    def source(self, suite: str, architecture: str, types: str = "deb") -> str:
        """The stanza of a .sources file that offers one suite of this mirror; `deb-src`: its source packages."""
        trust = "".join(f"{name}: {value}\n" for name, value in self.trust)
        where = f"URIs: {self.uri}\nSuites: {suite}\nComponents: main\nArchitectures: {architecture}\n"
        return f"Types: {types}\n{where}{trust}"


def mirrors(etc: Path = ETC) -> tuple[Mirror, ...]:
    """The mirrors of distribution packages, the distribution's own first, each once."""
    found = [mirror for mirror in _configured(etc) if "main" in mirror.components and not _is_update(mirror)]
    unique: dict[tuple[str, object], Mirror] = {}
    for mirror in found:
        unique.setdefault((mirror.uri.rstrip("/"), mirror.trust), mirror)
    return tuple(sorted(unique.values(), key=_rank))


def _configured(etc: Path) -> Iterator[Mirror]:
    parts = etc / "sources.list.d"
    for path in (etc / "sources.list", *sorted(parts.glob("*.list"))):
        yield from one_line(_read(path))
    for path in sorted(parts.glob("*.sources")):
        yield from deb822(_read(path))


def one_line(text: str) -> Iterator[Mirror]:
    """The old format: deb [options] URI SUITE COMPONENT…"""
    for line in text.splitlines():
        if match := _LINE.match(line.strip()):
            options = (option.partition("=") for option in (match["options"] or "").split())
            trust = tuple((name.lower(), value) for name, _, value in options if name.lower() in _KEPT)
            yield Mirror(match["uri"], (match["suite"],), tuple(match["components"].split()), trust)


def deb822(text: str) -> Iterator[Mirror]:
    """The new format: stanzas with Types, URIs, Suites, Components."""
    for fields in stanzas(text):
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        trust = tuple((name, fields[name]) for name in _KEPT if name in fields)
        suites, components = fields.get("suites", "").split(), fields.get("components", "").split()
        for uri in fields.get("uris", "").split():
            yield Mirror(uri, tuple(suites), tuple(components), trust)


def _is_update(mirror: Mirror) -> bool:
    """Security archives hold only what was mended: no suite is complete there."""
    return all(re.search(r"(-security|/updates)$", suite) for suite in mirror.suites)


def _rank(mirror: Mirror) -> bool:
    # a third party signs with a key of its own; the distribution's archive with the distribution's keyring
    signed = dict(mirror.trust).get("signed-by", "")
    return bool(signed) and "archive-keyring" not in signed


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
