"""What a registry's client complains of, as a sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stepgrid.build.command_runner import CommandResult
from stepgrid.build.error import BuildError

_ANYWHERE = {
    r"No space left|Disk quota exceeded": "the disk is full: {client} could not store {what}",
    r"Could not resolve|[Cc]ould not connect|Connection (?:refused|reset|timed out)|timed out|No route to host"
    r"|Network is unreachable|Temporary failure in name resolution|NewConnectionError|UnknownHostException"
    r"|Unknown host|spurious network error|nodename nor servname": "{client} could not reach its registry for {what}:"
    " check the network, then run the same command again",
    r"certificate|CERTIFICATE|PKIX": "{client} does not trust its registry's certificate, and did not fetch {what}",
    r"(?:HTTP\S*|status(?: code)?:?) 40[13]\b|[Uu]nauthorized|[Ff]orbidden": "{client} is not let in by its registry,"
    " and did not fetch {what}: check the client's settings",
}


def complaint(client: str, what: str, done: CommandResult, own: Mapping[str, str]) -> BuildError:
    """`own`: sentences by patterns of the client's own words, before those that any client's may match.

    A sentence may hold a group of its pattern by name.
    """
    said = f"{done.stdout}\n{done.stderr}"
    for pattern, sentence in {**own, **_ANYWHERE}.items():
        if match := re.search(pattern, said):
            return BuildError(sentence.format(client=client, what=what, **match.groupdict()))
    return BuildError(f"{client} could not fetch {what}: exit status {done.status}")
