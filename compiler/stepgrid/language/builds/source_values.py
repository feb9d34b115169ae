"""What a single value of a source may be: each check gives what is wrong with a text, as the end of a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias
from urllib.parse import urlsplit

Check: TypeAlias = Callable[[str], str | None]

PASSWORD = "holds a password or a user's name, which may be a token: it would go into every report"
_URL_CHARACTERS = re.compile(r"[!-~]+")


def matching(pattern: str, expected: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: str) -> str | None:
        return None if compiled.fullmatch(value) else f"is not {expected}"

    return check


def url(*schemes: str) -> Check:
    def check(value: str) -> str | None:
        if value.startswith("-"):
            return "begins with `-`"
        if not _URL_CHARACTERS.fullmatch(value):
            return "is not a URL: it has characters that must be written as %XX"
        return _wrong_url(value, schemes)

    return check


def _wrong_url(value: str, schemes: Sequence[str]) -> str | None:
    try:
        parts = urlsplit(value)
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in schemes or f"{parts.scheme}://" != value[: len(parts.scheme) + 3].lower():
        return f"is not a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    if parts.password is not None or (parts.scheme == "https" and parts.username):
        return PASSWORD
    if parts.scheme != "file" and not parts.hostname:
        return "names no host"
    return "names a host that begins with `-`" if (parts.netloc.rpartition("@")[2]).startswith("-") else None


def ref(value: str) -> str | None:
    if value.startswith("-"):
        return "begins with `-`"
    if ".." in value or not re.fullmatch(r"[\w./+@{}^~-]+", value, re.ASCII):
        return "is not a tag, a branch or a commit"
    return None


def system(value: str) -> str | None:
    if value.startswith("-"):
        return "begins with `-`"
    return "is neither a program's name nor an absolute path" if "/" in value and not value.startswith("/") else None


def path(value: str) -> str | None:
    return "begins with `-`" if value.startswith("-") else None if value else "is empty"


BOOLEAN = matching("true|false", "true or false")
SHA256 = matching(r"[0-9a-f]{64}", "a SHA-256: 64 digits, 0-9 and a-f")
VERSION = matching(r"[A-Za-z0-9][A-Za-z0-9.+!_~-]*", "a version")
DEBIAN_VERSION = matching(r"[0-9][A-Za-z0-9.+:~-]*", "a version of a Debian package")
CRATE = matching(r"[A-Za-z][A-Za-z0-9_-]*", "a crate's name")
PYPI = matching(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", "a package's name")
PACKAGE = matching(r"[a-z0-9][a-z0-9+.-]+", "a Debian package's name")
SUITE = matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "a suite such as bookworm")
COORDINATES = matching(r"[\w.-]*\w:\w[\w.-]*(?::\w[\w.+-]*)?", "GROUP:ARTIFACT or GROUP:ARTIFACT:VERSION")
CLASSIFIER = matching(r"\w[\w.-]*", "a classifier such as linux64")
KIND = matching("wheel|sdist", "wheel or sdist")
SERVER = matching(r"[A-Za-z0-9_][\w.-]*", "a name that a site file could have under `servers`")
