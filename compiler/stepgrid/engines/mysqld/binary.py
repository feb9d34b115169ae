"""What mysqld and mariadbd have in common: how they say what they are and what options they take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from tempfile import gettempdir

from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo, Run, last

_SAID = re.compile(r"\bVer (?P<version>\d+(?:\.\d+)+)(?P<suffix>\S*) (?:from \S+ )?for (?P<where>\S+ on \S+)")
_LETTERS = "lower_case_table_names"
_SLOW = {
    "debug": "this is a debug build: assertions and checks make it slow",
    "asan": "this build checks every access to memory (asan), which makes it slow",
    "tsan": "this build checks its threads (tsan), which makes it slow",
    "ubsan": "this build checks for undefined behaviour (ubsan), which makes it slow",
    "msan": "this build checks every access to memory (msan), which makes it slow",
    "valgrind": "this build is made for valgrind, which makes it slow",
}


def identify(run: Run, program: str) -> Identity:
    stdout, stderr = run(program, ("--no-defaults", "--version"))
    match = _SAID.search(stdout)
    if match is None:
        raise IdentityError(f"{program} --version does not say which version it is; it said: {last(stdout + stderr)}")
    marks = re.findall(r"[a-z]+", match["suffix"].lower())
    facts = {"said": stdout[match.start() :].strip().splitlines()[0], "for": match["where"]}
    return Identity(match["version"], slowed(marks), "debug" in marks, facts)


def slowed(marks: Sequence[str]) -> tuple[str, ...]:
    """Sentences about what the words behind a version say."""
    return tuple(sentence for mark, sentence in _SLOW.items() if mark in marks)


def catalogue(run: Run, program: str, more: Sequence[str] = ()) -> Mapping[str, OptionInfo]:
    """`more`: what makes it name the options of plugins as well."""
    from stepgrid.engines.mysqld import option_help

    asked = ("--no-defaults", "--verbose", "--help", *more)
    stdout, stderr = run(program, asked)
    found = option_help.options(stdout)
    if "datadir" not in found or "max_connections" not in found:
        raise IdentityError(f"{program} --verbose --help does not list its options; it said: {last(stdout + stderr)}")
    if _LETTERS in found and found[_LETTERS].default == "2":
        # what MySQL 8 says where there is no data directory: with one, however empty, it looks at the file system
        there, _ = run(program, (*asked, f"--datadir={gettempdir()}"))
        found[_LETTERS] = option_help.options(there).get(_LETTERS, found[_LETTERS])
    return found
