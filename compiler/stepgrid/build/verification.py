"""Asks a fresh build what it is, and holds it against what the spec declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepgrid.build.error import BuildError
from stepgrid.build.programs import absolute
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins.engine import Identity, OptionInfo

SECONDS = 60.0
UNTOLD = "unknown"  # neither the binary nor the spec says which version it is


@dataclass(frozen=True, slots=True)
class CheckedBuild:
    identity: Identity
    catalogue: Mapping[str, OptionInfo] | None  # None: it cannot be asked


def check(order: Order, material: Material, made: BuiltPrograms) -> CheckedBuild:
    engine, said = order.engine, material.described
    if said is not None:
        _compare(order.build, said.identity.version, material.advice, "the server")
        return CheckedBuild(said.identity, said.options)

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        argv = (*absolute(order.folder, made.programs[program]), *arguments)
        done = order.commands.run(argv, SECONDS)
        if done.status < 0:
            raise BuildError(f"{program} was killed by signal {-done.status} when it was asked what it is")
        return done.stdout, done.stderr

    identity = engine.identify(run)
    if not identity.version:
        identity = identity._replace(version=order.build.version or UNTOLD)
    _compare(order.build, identity.version, material.advice)
    catalogue = engine.catalogue(run)
    if catalogue is not None and not catalogue:
        raise BuildError(f"{engine.name} {identity.version} lists no options: nothing could be checked against it")
    return CheckedBuild(identity, catalogue)


def _compare(build: PlannedBuild, said: str, advice: str, who: str = "the binary") -> None:
    """`11.8` takes 11.8.9: a suite of packages has another one from month to month."""
    if build.version and not f"{said}.".startswith(f"{build.version}."):
        where = f" ({build.where})" if build.where else ""
        raise BuildError(f"the spec declares version {build.version}{where}, {who} says {said}: {advice}")
