"""What apt complains of, as a sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

INSTEAD = "name a binary that is installed instead, `source: {system: PROGRAM}`"

_OFFLINE = r"Could not resolve|Could not connect|Cannot initiate|Connection|timed out|Temporary failure"
_AGAIN = "check the network, then run the same command again"

_UPDATE = {  # the first that apt's words match
    r"NO_PUBKEY|Missing key": "the mirror's suite {suite} is signed with a key that this machine does not know:"
    " install a newer archive keyring package of the distribution",
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


def explain_update(suite: str, said: str) -> str:
    """Why the lists of a suite could not be fetched."""
    return _explain(_UPDATE, said, f"apt could not fetch the lists of suite {suite}", suite=suite)


def explain_download(packages: Sequence[str], suite: str, architecture: str, names: Iterable[str], said: str) -> str:
    """Why packages could not be had; `names` are those that the suite has."""
    if match := re.search(_MISSING, said):
        missing = next(group for group in match.groups() if group)
        close = get_close_matches(missing, names, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        return (
            f"suite {suite} has no package {missing} for {architecture}{hint}: choose a suite that has it, or {INSTEAD}"
        )
    text = " ".join(packages)
    return _explain(_DOWNLOAD, said, f"apt could not fetch {text} of suite {suite}", suite=suite, packages=text)


def explain_source(
    package: str, version: str, suite: str, known: Callable[[], Mapping[str, Sequence[str]]], said: str
) -> str:
    """Why a source package could not be had; `known` gives those of the suite, with their versions."""
    if re.search(r"[Cc]an not find version", said):
        there = ", ".join(known().get(package, ["another version"]))
        return f"suite {suite} has no {package} {version}, it has {there}: a suite moves on"
    if re.search(r"Unable to find a source package", said):
        close = get_close_matches(package, known(), n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        return f"suite {suite} has no source package {package}{hint}: choose a suite that has it"
    return _explain(_DOWNLOAD, said, f"apt could not fetch {package} of suite {suite}", suite=suite, packages=package)


def _explain(table: Mapping[str, str], said: str, otherwise: str, **values: str) -> str:
    for pattern, sentence in table.items():
        if re.search(pattern, said):
            return sentence.format(instead=INSTEAD, **values)
    return otherwise
