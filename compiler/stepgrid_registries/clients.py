"""Clients of registries: how long one may take, and why one failed, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Order

REGISTRY_SECONDS = 3600.0  # for a client of a registry
OLD_CLIENT = "is too old for {item}: install a newer one, or name one as `{client}` under `tools:` in the site file"
PROGRAM_ADVICE = "a package's version is not always what its program says: declare the version of the program"
UNREACHABLE = (
    r"Could not resolve|[Cc]ould not connect|Connection (?:refused|reset|timed out)|timed out|No route to host"
    r"|Network is unreachable|Temporary failure in name resolution|NewConnectionError|UnknownHostException|Unknown host"
    r"|spurious network error|nodename nor servname|no such host|EAI_AGAIN|ENOTFOUND|ECONNREFUSED"
)
_COMPLAINTS = {
    r"No space left|Disk quota exceeded": "the disk is full: {client} could not store {item}",
    UNREACHABLE: "{client} could not reach its registry for {item}: check the network, then run the same command again",
    r"certificate|CERTIFICATE|PKIX": "{client} does not trust its registry's certificate, and did not fetch {item}",
    r"(?:HTTP\S*|status(?: code)?:?) 40[13]\b|[Uu]nauthorized|[Ff]orbidden": "{client} is not let in by its registry,"
    " and did not fetch {item}: check the client's settings",
}


def explain_client(client: str, item: str, result: CommandResult, complaints: Mapping[str, str]) -> BuildError:
    """Explain why a registry's client failed; `complaints`: sentences by patterns of the client's words.

    They go before those that any client's words may match. A sentence may hold a group of its pattern by name.
    """
    output = f"{result.stdout}\n{result.stderr}"
    for pattern, sentence in {**complaints, **_COMPLAINTS}.items():
        if match := re.search(pattern, output):
            return BuildError(sentence.format(client=client, item=item, **match.groupdict()))
    return BuildError(f"{client} could not fetch {item}: exit status {result.status}")


class HttpClient(Struct, frozen=True):
    """A registry's client that installs programs, with this machine's settings."""

    name: str
    complaints: Mapping[str, str]  # sentences by patterns of its words
    offline: Mapping[str, str]  # variables by which it takes all from its cache

    def install(self, order: Order, item: str, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        """Run it; where it reaches no registry, once more with what its cache holds."""
        output, status = "", 0
        for offline in ({}, self.offline):
            began = order.commands.log.stat().st_size if order.commands.log.exists() else 0
            environment = {**order.environment, **(variables or {}), **offline}
            status = order.commands.compile(argv, REGISTRY_SECONDS, env=environment)
            if status == 0:
                return
            with order.commands.log.open("rb") as log:
                log.seek(began)
                output = output or log.read().decode(errors="replace")
            if not re.search(UNREACHABLE, output):
                break
        raise explain_client(self.name, item, CommandResult(status, output, ""), self.complaints)
