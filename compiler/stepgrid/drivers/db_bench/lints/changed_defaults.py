"""Defaults that changed between releases of RocksDB, as db_bench applies them (its source at the release tags)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepgrid.drivers.db_bench.benchmarks import READ_ONLY
from stepgrid.drivers.db_bench.lints.step_facts import release_of
from stepgrid.expand.builds import Build
from stepgrid.lint.comparison import compares_builds
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject

Release = tuple[int, ...]

FOLLOWS_LIBRARY: Release = (8, 7)  # db_bench takes the library's readahead from here on
_HYPER_CLOCK: Release = (10, 9)


@dataclass(frozen=True, slots=True)
class Change:
    option: str
    since: Release
    before: str
    after: str


# db_bench's own. Where it follows the library, the change of a default is what a release is measured for.
CHANGES = (
    Change("max_bytes_for_level_base", (5, 3), "10 MiB", "256 MiB"),
    Change("target_file_size_base", (5, 3), "2 MiB", "64 MiB"),
    Change("allow_concurrent_memtable_write", (5, 7), "false", "true"),
    Change("verify_checksum", (5, 7), "false", "true"),
    Change("cache_numshardbits", (7, 7), "6", "-1"),
    Change("cache_size", (8, 2), "8 MiB", "32 MiB"),
    Change("compaction_readahead_size", FOLLOWS_LIBRARY, "0", "2 MiB"),
    Change("cache_type", _HYPER_CLOCK, "lru_cache", "hyper_clock_cache"),
)


def compaction_readahead(release: Release) -> int:
    """db_bench's default."""
    return 2 * 2**20 if release >= FOLLOWS_LIBRARY else 0


def cache_type(release: Release) -> str:
    """db_bench's default; before 7.4 the only one that there is."""
    return "hyper_clock_cache" if release >= _HYPER_CLOCK else "lru_cache"


def _defaults(subject: Subject) -> Iterator[Finding]:
    """Releases on both sides of a change of a default that the spec leaves to them."""
    for change in CHANGES if compares_builds(subject) else ():
        older, newer = _sides(subject, change)
        if older and newer:
            message = (
                f"`{change.option}` is left to the builds: {change.before} in {older[0].name}, "
                f"{change.after} in {newer[0].name}"
            )
            hint = f"say `{change.option}`, unless the change of its default is what is measured"
            yield Finding(newer[0].where, message, hint, width=len(newer[0].family))


def _sides(subject: Subject, change: Change) -> tuple[Sequence[Build], Sequence[Build]]:
    given, benchmarks = subject.table.column(change.option), subject.table.column("benchmark")
    silent: dict[str, Build] = {}
    for row, value, benchmark in zip(subject.table.rows, given, benchmarks, strict=True):
        if value is None and benchmark not in (None, *READ_ONLY):
            silent[row.build.name] = row.build
    known = [(number, build) for build in silent.values() if (number := release_of(build)) is not None]
    return [b for n, b in known if n < change.since], [b for n, b in known if n >= change.since]


RULES = (
    Rule(
        "defaults-differ",
        "releases with different defaults of an option that the spec leaves to them",
        _defaults,
        reads=tuple(change.option for change in CHANGES),
    ),
)
