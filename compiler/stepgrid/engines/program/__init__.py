"""Any program: an engine that nobody here knows, run by steps of kind command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stepgrid.engines.program import flags
from stepgrid.plugins.engine import Built, Identity, OptionInfo, Run

if TYPE_CHECKING:
    from stepgrid.build.recipe import Recipe


class Program:
    name = "program"
    kinds: tuple[str, ...] = ("command",)
    immutable: tuple[str, ...] = ()
    server = False
    storage_engines: tuple[str, ...] = ("program",)
    default_storage_engine = "program"
    extensions: tuple[str, ...] = ()
    reserved: Mapping[str, str] = {}
    programs: tuple[str, ...] = ()  # each build says its own

    def capabilities(self, version: str) -> frozenset[str]:
        return frozenset()

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.program.recipe import ByCommand

        return (ByCommand(),)

    flag_faults = staticmethod(flags.flag_faults)
    lacking = staticmethod(flags.lacking)
    only_choose = staticmethod(flags.only_choose)
    program_paths = staticmethod(flags.program_paths)

    def identify(self, run: Run) -> Identity:
        """Nobody knows how it would be asked: started with a word that it does not know, it may begin to work."""
        return Identity("")

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo] | None:
        return None


ENGINE: Built = Program()
