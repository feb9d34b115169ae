"""Local facts of a machine, for all specs that run there: the site file. Never part of what a spec means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.language.problem import Problems, SpecError

GIVEN = "STEPGRID_SITE"


@dataclass(frozen=True, slots=True)
class Site:
    path: str | None = None
    data: str | None = None
    device: str | None = None
    allow_other_hardware: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    mirrors: Mapping[str, str] = field(default_factory=dict)
    noise: str = "leave"

    def tool(self, name: str) -> str:
        """The configured path, or the name itself, to be found on PATH."""
        return self.tools.get(name, name)

    def mirror(self, url: str) -> str:
        """What is used in place of a git URL; the longest prefix that is configured decides."""
        if url in self.mirrors:
            return self.mirrors[url]
        prefixes = [prefix for prefix in self.mirrors if prefix.endswith("/") and url.startswith(prefix)]
        longest = max(prefixes, key=len, default="")
        return f"{self.mirrors[longest].rstrip('/')}/{url.removeprefix(longest)}" if longest else url


def read(path: str, problems: Problems) -> Site:
    """What a site file says; what is wrong with it is among the problems."""
    return Site(path)


def of_environment() -> Site:
    """In a job: that of the run which started it."""
    path = os.environ.get(GIVEN)
    if not path:
        return Site()
    problems = Problems()
    site = read(path, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return site
