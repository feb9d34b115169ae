"""Protocols of an engine: how its files behave, what its programs are, what they say about themselves.

Its planning half is all that `check` and `plan` need. The building half is there for the engines that this version
builds: one that is only declared does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from stepgrid.model.records import Catalogue, Json
from stepgrid.model.records import OptionInfo as OptionInfo  # for plug-ins

if TYPE_CHECKING:
    from stepgrid.language.sources import PublishedLibrary, SourceFault
    from stepgrid.model.plan import Value

# runs a program of the build with arguments and gives (stdout, stderr); never a shell
Run: TypeAlias = Callable[[str, Sequence[str]], tuple[str, str]]
Release: TypeAlias = tuple[int, ...]


class Identity(NamedTuple):
    """A binary, as it describes itself."""

    version: str  # empty: it was not asked, and what the spec declares is believed
    warnings: tuple[str, ...] = ()  # e.g. "Assertions are enabled": travels with every figure
    assertions: bool | None = None
    facts: Mapping[str, str] | None = None


class IdentityError(Exception):
    """A binary that does not run, or does not say what it is: a sentence with what it said."""


class Engine(Protocol):
    """The planning half."""

    name: str
    kinds: tuple[str, ...]  # the step kinds that can run on it
    immutable: tuple[str, ...]  # globs of database files that are never written in place: they may be hard-linked
    server: bool  # a process that is started for a stage; else the step's own program holds the engine
    storage_engines: tuple[str, ...]
    default_storage_engine: str
    extensions: tuple[str, ...]  # that a build may add
    reserved: Mapping[str, str]  # options that a spec may not give -> the param that it is; "" = stepgrid sets it

    def capabilities(self, version: str) -> frozenset[str]:
        """Look up a table of versions, never the binary: planning is pure."""
        ...


class EngineBase:
    """Base of engines, for what most have alike: it is no server, and builds add no extensions."""

    immutable: tuple[str, ...] = ()
    server = False
    extensions: tuple[str, ...] = ()
    reserved: Mapping[str, str] = {}
    first_releases: Mapping[str, Release] = {}  # capability -> the release that it came with

    def capabilities(self, version: str) -> frozenset[str]:
        return release_capabilities(version, self.first_releases)


@runtime_checkable
class IndebtedEngine(Protocol):
    """A server engine that puts work off: what of its states (plugins/server.py) that is, and how a report calls it."""

    debts: Mapping[str, Mapping[str, str]]  # by storage engine


@runtime_checkable
class EngineBuilder(Protocol):
    """The building half."""

    programs: tuple[str, ...]  # what a build must provide

    def identify(self, run: Run) -> Identity: ...

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo] | None:
        """List every option that the binary accepts; None if there is no way to ask it."""
        ...


@runtime_checkable
class CompiledEngine(Protocol):
    """An engine that this version compiles from a source tree."""

    systems: tuple[str, ...]  # the build systems that do it, the default first


@runtime_checkable
class FlaggedOptions(Protocol):
    """A compiled engine some of whose options are there only if a variable of the build system, on by default, is on.

    A recipe turns none of these off.
    """

    flagged_options: Mapping[str, str]  # names of options, or patterns -> variable: `innodb_numa_*: WITH_NUMA`


@runtime_checkable
class DeclaredBuilds(Protocol):
    """An engine whose builds say in their `flags:` what makes them and which programs they have.

    They may declare a `service` as well.
    """

    def flag_faults(self, flags: Mapping[str, Json]) -> Iterable[SourceFault]: ...

    def lacking(self, source: Mapping[str, Json], recipe: Mapping[str, Json]) -> SourceFault | None:
        """Find what a build does not say, or says in vain of its source; the message is a sentence's end."""
        ...

    def complete_source(self, source: Mapping[str, Json], recipe: Mapping[str, Json]) -> Mapping[str, Json]:
        """Add which files of a local folder a build is made of."""
        ...

    def only_choose(self, flags: Mapping[str, Json]) -> bool:
        """Tell whether flags only choose among programs, which a source may have made already."""
        ...

    def program_paths(self, recipe: Mapping[str, Json]) -> Mapping[str, str]:
        """Map its programs to their paths in their tree."""
        ...


@runtime_checkable
class VersionedTrees(Protocol):
    """An engine whose source trees say in a file which version they are, whatever tag or branch they are of."""

    version_file: str

    def version_in(self, text: str) -> str:
        """Find the version; empty if the file does not say it."""
        ...


@runtime_checkable
class OptionEffects(Protocol):
    """An engine that knows what its options can move: a default that can move what differs leads its causes."""

    option_effects: Mapping[str, tuple[str, ...]]  # patterns of names -> disk, cpu, cache, lock, size, stall


@runtime_checkable
class PublishedLibraries(Protocol):
    """An engine of which ready libraries are published: a build compiles its program against one."""

    libraries: Mapping[str, PublishedLibrary]  # GROUP:ARTIFACT of Maven -> what is known of it


@runtime_checkable
class Spelling(Protocol):
    """An engine that takes its options under more names than it lists."""

    def spelled_option(self, name: str, catalogue: Catalogue) -> OptionInfo | None:
        """Describe an option that is not listed; None if the binary would not take it."""
        ...


@runtime_checkable
class Choices(Protocol):
    """An engine some of whose options take one of a few words that its binary does not list."""

    choices: Mapping[str, Sequence[str]]  # option -> the words, of any version


@runtime_checkable
class Checking(Protocol):
    """An engine that tells which values its binary takes."""

    booleans: Sequence[str]  # in small letters, the first two for messages
    counts_choices: bool  # whether the names of an enumeration have numbers, from 0

    def value_fault(self, info: OptionInfo, text: str) -> str | None:
        """Say, of an option that is neither a boolean nor an enumeration, why not, as the end of a sentence."""
        ...


@runtime_checkable
class KnownOptions(Protocol):
    """An engine that brings names and types of the options of its releases, for builds that are not made yet."""

    known_options: Path  # JSON: releases: engine -> versions; options: name -> type, empty where releases differ
    repository: str  # URL of the tree of its releases; any other one is a fork's


@runtime_checkable
class ReadOptions(Protocol):
    """An engine that tells its options which change no database: caches, limits and plans of reads."""

    read_options: Sequence[str]  # names, or patterns such as `enable_*`


@runtime_checkable
class TreeReader(Protocol):
    """An engine whose files say how its LSM tree is made up, while no program has them open."""

    def levels(self, database: Path) -> Sequence[Mapping[str, float | str]]:
        """List rows by columns of the table `levels`; ValueError if they cannot be read."""
        ...


@runtime_checkable
class Bookkeeping(Protocol):
    """An engine that writes some files whenever a database is opened, whatever is done with it."""

    bookkeeping: Sequence[str]  # patterns of their names


@runtime_checkable
class WrittenOptions(Protocol):
    """An engine some of whose options name what it writes itself: such a file is no input, whatever is in it."""

    written_options: Sequence[str]  # names, or patterns such as `*log_file`


class Renaming(NamedTuple):
    """An option that an engine has under another name since a release, or no more: a row of its table."""

    old: str
    since: Release
    new: str = ""  # empty: releases have nothing in its place, and it is left out
    factor: int = 1  # of its number
    unit: str = ""  # behind that
    times: tuple[str, int] | None = None  # another option that it is multiplied with, and the default of that
    words: Mapping[str, str] = {}  # old value -> new one
    had_both: bool = False  # releases before `since` know the new name as well

    @property
    def is_plain(self) -> bool:
        """The value stays as it is."""
        return bool(self.new) and self.factor == 1 and not (self.unit or self.times or self.words)

    def describe(self) -> str:
        """Write `innodb_log_file_size × innodb_log_files_in_group` → `innodb_redo_log_capacity` from 8.0.30."""
        old, new = self.change()
        return f"`{old}`{f' → `{new}`' if new else ': left out'} from {'.'.join(map(str, self.since))}"

    def change(self) -> tuple[str, str]:
        """Write both sides with their values, as far as these change."""
        if self.words:
            return f"{self.old}={'|'.join(self.words)}", f"{self.new}={'|'.join(self.words.values())}"
        times = [*(self.times[:1] if self.times else ()), *([f"{self.factor}{self.unit}"] if self.factor != 1 else ())]
        return " × ".join((self.old, *times)), self.new


@runtime_checkable
class Renamings(Protocol):
    """An engine some of whose options have other names in later releases."""

    renamings: Sequence[Renaming]  # of two rows for one option, the later one that holds counts


def renamings_of(engine: object, version: str) -> Mapping[str, Renaming]:
    """Map names that a release does not have to what it has; none where the version is unknown."""
    release, by_name = release_numbers(version), dict[str, Renaming]()
    for row in engine.renamings if isinstance(engine, Renamings) and release else ():
        if release >= row.since:
            by_name |= dict.fromkeys((row.old, *(row.times[:1] if row.times else ())), row)
        elif row.is_plain and not row.had_both:
            by_name[row.new] = row
    return by_name


def plain_name(name: str) -> str:
    """Write an option as it is listed: mysqld takes any with the prefix loose_, and dashes as well."""
    return name.replace("-", "_").lower().removeprefix("loose_")


class EqualOptions(NamedTuple):
    """What `equal` of a spec sets under an engine, or under one of its storage engines: a row of its table."""

    memory: str = ""  # the option that is the size of its cache; empty: it has none
    units: Sequence[str] = ()  # that a size is written in, from 1024 bytes on; empty: in bytes
    durability: Mapping[str, Mapping[str, Value]] = {}  # class -> option -> value
    storage_engine: str = ""  # empty: of any


@runtime_checkable
class Equal(Protocol):
    """An engine that declares its own options for `equal: {memory: 4GiB, durability: sync}` of a spec."""

    equal: Sequence[EqualOptions]


class EngineEvent(NamedTuple):
    """Work that an engine does beside that of its clients, or a time in which it holds them up."""

    began: float  # seconds since 1970
    seconds: float  # 0: a moment; infinite: it was not over when the log ended
    kind: str  # flush, compaction, checkpoint …
    name: str = ""


@runtime_checkable
class EventLog(Protocol):
    """An engine whose log has events."""

    event_log: str  # path in the database; empty: what a server writes to stderr

    def events(self, lines: Iterable[str]) -> Iterable[EngineEvent]: ...


class Built(Engine, EngineBuilder, Protocol):
    """Both halves: an engine that this version builds."""


def last_lines(text: str) -> str:
    """Join the last three lines of an output, for a message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "nothing"


# Capabilities, by a table of releases


def release_numbers(version: str) -> Release:
    """Split `9.10.0` into numbers, as 9.10 comes after 9.9. What follows the numbers is not compared."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def release_capabilities(version: str, since: Mapping[str, Release]) -> frozenset[str]:
    """Select capabilities whose first release is reached; one that a later release lost has no place in the table."""
    numbers = release_numbers(version)
    return frozenset(name for name, first in since.items() if numbers >= first)


# Values of options, as far as the binary and its engine tell: booleans, names of an enumeration, numbers


def option_fault(engine: Engine, info: OptionInfo, value: Value) -> str | None:
    """Say why the binary would not take a value, as the end of a sentence; None if nothing speaks against it."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if not isinstance(engine, Checking):
        return None
    if info.type == "enum":
        return _choice_fault(engine, info.choices, text)
    if info.type != "bool":
        return engine.value_fault(info, text)
    return None if text.lower() in engine.booleans else f"takes {' or '.join(engine.booleans[:2])}, not `{text}`"


def range_fault(kind: str, least: object, most: object, text: str) -> str:
    return f"takes {least} to {most}{f' ({kind})' if kind else ''}, not `{text}`"


def _choice_fault(engine: Checking, choices: Sequence[str], text: str) -> str | None:
    names, name = {choice.lower() for choice in choices}, text.lower()
    if not names or name in names:
        return None
    if {"on", "off"} & names and name in engine.booleans:
        return None
    if engine.counts_choices and name.isdecimal() and int(name) < len(names):
        return None
    from difflib import get_close_matches

    nearest = "".join(f"; did you mean {match}?" for match in get_close_matches(text, choices, 1))
    return f"takes one of {', '.join(choices)}, not `{text}`{nearest}"
