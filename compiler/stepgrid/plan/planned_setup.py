"""Steps' setups as a plan has them: a client is there by the id of its build."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.expand.steps.setup import Setup
from stepgrid.model.plan import CLIENT, Json


class Setups:
    """`builds`: ids by the builds' names."""

    def __init__(self, builds: Mapping[str, str]) -> None:
        self._builds = builds
        self._known: dict[int, tuple[Setup, Mapping[str, Json]]] = {}  # with the setup: its id() stays its own

    def client(self, setup: Setup) -> str | None:
        return None if setup.client is None else self._builds[setup.client.name]

    def values(self, setup: Setup) -> Mapping[str, Json]:
        """One object for all steps that share the setup, which is written once."""
        if setup.client is None:
            return setup.values
        if id(setup) not in self._known:
            self._known[id(setup)] = setup, {**setup.values, CLIENT: self.client(setup)}
        return self._known[id(setup)][1]
