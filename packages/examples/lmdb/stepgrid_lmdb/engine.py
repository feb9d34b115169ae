"""The engine: LMDB, a library in a Python wheel. Its program is the Python of the build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stepgrid.plugins.counters import COMMITS
from stepgrid.plugins.durability import COMMIT, OS, OTHER, SYNC, Promise
from stepgrid.plugins.engine import (
    Built,
    EngineBase,
    EqualOptions,
    Identity,
    IdentityError,
    OptionInfo,
    Run,
    last_lines,
)

if TYPE_CHECKING:
    from stepgrid.lint.rule import Facts, Rule, Verdict

_SAYS = "import lmdb; print(lmdb.__version__, *lmdb.version(), sep='.')"
_OPTIONS = (  # of lmdb.open, which a spec may give
    OptionInfo("map_size", "number", "10485760", "Bytes that the database may grow to."),
    OptionInfo("sync", "bool", "true", "Flush the system's buffers to disk at each commit."),
    OptionInfo("metasync", "bool", "true", "Flush the page of the root at each commit."),
    OptionInfo("writemap", "bool", "false", "Write into the map itself."),
    OptionInfo("readahead", "bool", "true", "Let the system read ahead."),
)


class Lmdb(EngineBase):
    name = "lmdb"
    programs: tuple[str, ...] = ("python",)  # of a wheel (`pypi`), or of `requirements`
    kinds: tuple[str, ...] = ("lmdb", "command")
    storage_engines: tuple[str, ...] = ("btree",)
    default_storage_engine = "btree"
    booleans: Sequence[str] = ("true", "false")
    counts_choices = False
    bookkeeping = ("lock.mdb",)  # written whenever it is opened
    promises = (Promise(COMMIT, "sync", "1", {"0": OS, OTHER: SYNC}),)
    equal = (EqualOptions(durability={OS: {"sync": False}, SYNC: {"sync": True}}),)
    counter_names: Mapping[str, Sequence[str]] = {COMMITS: ("lmdb.commits",)}
    option_effects: Mapping[str, tuple[str, ...]] = {"sync metasync": ("disk",), "map_size": ("size",)}

    def identify(self, run: Run) -> Identity:
        stdout, stderr = run("python", ("-c", _SAYS))
        version, *library = stdout.strip().rsplit(".", 3)
        if not library:
            raise IdentityError(f"the build's Python has no lmdb; it said: {last_lines(stdout + stderr)}")
        return Identity(version, facts={"library": ".".join(library)})

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        return {option.name: option for option in _OPTIONS}

    def value_fault(self, info: OptionInfo, text: str) -> str | None:
        return None if info.type != "number" or text.isdecimal() else f"takes a number, not `{text}`"

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.rule import Rule, each_step

        check = each_step(("step.keys", "step.value_size"), _small_map, ("map_size",))
        return [Rule("lmdb-map-small", "a map that does not hold the keys", check)]


def _small_map(facts: Facts) -> Verdict | None:
    from stepgrid.lint.rule import Verdict

    size, keys = facts.amount("map_size", 0), facts.amount("step.keys", 0)
    needed = 2 * keys * facts.amount("step.value_size", 0)
    return (
        Verdict("map_size", f"`map_size` is {size:,.0f} bytes, the keys need some {needed:,.0f}")
        if size < needed
        else None
    )


ENGINE: Built = Lmdb()
