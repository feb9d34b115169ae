"""Asks a fresh build what it is, and holds it against what the spec declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.build.command import Commands
from compiler.build.problem import BuildError
from compiler.build.programs import absolute
from compiler.build.sources.protocol import Obtained
from compiler.engines.protocol import Identity, OptionInfo, Runner
from compiler.plan.model import PlannedBuild

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Checked:
    identity: Identity
    catalogue: Mapping[str, OptionInfo]


def check(build: PlannedBuild, engine: Runner, obtained: Obtained, folder: Path, commands: Commands) -> Checked:
    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        argv = (*absolute(folder, obtained.programs[program]), *arguments)
        done = commands.run(argv, SECONDS)
        if done.status < 0:
            raise BuildError(f"{program} was killed by signal {-done.status} when it was asked what it is")
        return done.stdout, done.stderr

    identity = engine.identify(run)
    _compare(build, identity.version, obtained.version_advice)
    catalogue = engine.catalogue(run)
    if not catalogue:
        raise BuildError(f"{engine.name} {identity.version} lists no options: nothing could be checked against it")
    return Checked(identity, catalogue)


def _compare(build: PlannedBuild, said: str, advice: str) -> None:
    if build.version and build.version != said:
        where = f" ({build.where})" if build.where else ""
        raise BuildError(f"the spec declares version {build.version}{where}, the binary says {said}: {advice}")
