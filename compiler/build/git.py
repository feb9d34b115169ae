"""git as a client that trusts no repository: fixed protocols, no hooks, no filters, no question to the user.

The user's own settings (credentials, proxy, `insteadOf`) hold.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from compiler.build.command import Completed
from compiler.build.order import Order
from compiler.build.problem import BuildError
from compiler.build.toolchain import require

COMMIT = re.compile(r"[0-9a-f]{40}")
PROTOCOLS = ("https", "ssh", "file")

_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
)
_SETTINGS = f"include.path={Path(__file__).with_name('safe.gitconfig')}"  # on the command line: it goes before all
_ATTRIBUTES = "* -filter -ident -working-tree-encoding\n"  # goes before what the repository's own .gitattributes say
_SECONDS = 4 * 3600.0
_SHOWN = 3


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

    def run(self, *arguments: str, quiet: bool = False) -> Completed:
        argv = [require(self.order, "git"), "-c", _SETTINGS, *arguments]
        return self.order.commands.run(
            argv, _SECONDS, quiet=quiet, cwd=self.folder, env={**_ENVIRONMENT, **self.environment}
        )

    def check(self, *arguments: str, quiet: bool = False) -> str:
        done = self.run(*arguments, quiet=quiet)
        if done.status:
            raise BuildError(f"git {arguments[0]} failed: {complaint(done)}")
        return done.stdout


def complaint(done: Completed) -> str:
    """What git says is wrong, without its advice."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    told = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    return "; ".join(list(dict.fromkeys(told or lines))[:_SHOWN]) or f"exit status {done.status}"
