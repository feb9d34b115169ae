"""git as a client that trusts no repository: fixed protocols, no hooks, no filters, no question to the user.

The user's own settings (credentials, proxy, `insteadOf`) hold.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from stepgrid.build.command_runner import CommandResult, hidden
from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.task import Order

COMMIT = re.compile(r"[0-9a-f]{40}")
PROTOCOLS = ("https", "ssh", "file")

_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
)
_SETTINGS = f"include.path={Path(__file__).with_name('safe.gitconfig')}"  # on the command line: it goes before all
_ATTRIBUTES = "* -filter -ident -working-tree-encoding\n"  # goes before what the repository's own .gitattributes say
_SECONDS = 4 * 3600.0
_SHOWN = 3
# a name and a password are asked of nobody, and an end that says nothing is not waited for
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=30"
_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "Could not resolve|Couldn't connect|Connection (refused|reset)|timed out|[Tt]imeout|unreachable|too slow"
        "|Temporary failure": (
            "check the network and its proxy, or name a mirror (`mirrors:` of the site file, docs/running.md)"
        ),
        "could not read Username|Authentication failed|Permission denied|Host key verification|error: 40[13]": (
            "let git in by a credential helper, or ssh by an agent and a known host; nobody is asked"
        ),
        "does not appear to be a git repository|[Rr]epository .*not found": "check the URL",
        "not allowed|is not a git command|unable to find remote helper": f"a URL of {', '.join(PROTOCOLS)} is expected",
    }
)


@dataclass(frozen=True, slots=True)
class Git:
    """In one folder, which becomes a repository by `init`."""

    order: Order
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)  # adds to what every call has

    def init(self) -> None:
        self.folder.mkdir(parents=True)
        template = self.order.folder / ".git-template"
        (template / "info").mkdir(parents=True, exist_ok=True)
        (template / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
        self.check("init", "--quiet", f"--template={template.absolute()}")
        shutil.rmtree(template)

    def run(self, *arguments: str, quiet: bool = False) -> CommandResult:
        argv = [require(self.order, "git"), "-c", _SETTINGS, *arguments]
        given = {**_ENVIRONMENT, **self._ssh(arguments), **self.environment}
        return self.order.commands.run(argv, _SECONDS, quiet=quiet, cwd=self.folder, env=given)

    def _ssh(self, arguments: Sequence[str]) -> Mapping[str, str]:
        """ssh waits without an end for a host that says nothing, unless the user has an ssh of his own."""
        if not any(word.startswith("ssh:") for word in arguments) or {"GIT_SSH", "GIT_SSH_COMMAND"} & os.environ.keys():
            return {}
        own = self.run("config", "--get", "core.sshCommand", quiet=True)
        return {} if own.status == 0 else {"GIT_SSH_COMMAND": _SSH}

    def check(self, *arguments: str, quiet: bool = False) -> str:
        done = self.run(*arguments, quiet=quiet)
        if done.status:
            raise BuildError(f"git {arguments[0]} failed: {complaint(done)}")
        return done.stdout


def complaint(done: CommandResult) -> str:
    """What git says is wrong, without its own advice, and what to do."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    told = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    ended = f"it was killed by signal {-done.status}" if done.status < 0 else f"exit status {done.status}"
    said = hidden("; ".join(list(dict.fromkeys(told or lines))[:_SHOWN]) or ended).rstrip(".")
    return said + next((f": {advice}" for pattern, advice in _ADVICE.items() if re.search(pattern, done.stderr)), "")


def place(order: Order, url: str) -> tuple[str, str]:
    """Where it is really fetched from, and how that is told."""
    where = order.site.mirror(url)
    return where, url if where == url else f"{url} (by the site file: {hidden(where)})"
