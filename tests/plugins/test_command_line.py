from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.plugins.driver import Context, command_words
from stepgrid.plugins.registry import require_runner

CONTEXT = Context({"db_bench": ("ld.so", "--library-path", "lib", "db_bench")}, "1.0", Path("/d"), Path("/f"), 7)


def _argv(*words: str, **options: object) -> tuple[str, ...]:
    return require_runner("command").command({"argv": list(words), "duration": 5.0}, options, CONTEXT).argv


def test_placeholders_are_filled_in_and_nothing_else() -> None:
    assert _argv("sh", "-c", "ls {data} > {folder}/list.{seed}") == ("sh", "-c", "ls /d > /f/list.7")
    assert _argv("awk", "{print $1}", "{dta}", "{}") == ("awk", "{print $1}", "{dta}", "{}")


def test_a_program_of_the_build_keeps_the_words_that_start_it() -> None:
    assert _argv("{program:db_bench}", "--db={data}") == ("ld.so", "--library-path", "lib", "db_bench", "--db=/d")


def test_options_are_words_of_their_own() -> None:
    assert _argv("x", "{options}", sync=True, size=4096) == ("x", "--sync=true", "--size=4096")
    assert _argv("x", sync=True) == ("x",)


def test_a_value_is_never_filled_in_twice() -> None:
    context = Context({}, "1.0", Path("/{seed}"), Path("/f"), 7)
    assert require_runner("command").command({"argv": ["x", "{data}"], "duration": None}, {}, context).argv == (
        "x",
        "/{seed}",
    )


def test_a_program_that_the_build_lacks() -> None:
    with pytest.raises(LookupError) as caught:
        _argv("{program:ldb}")
    assert caught.value.args == ("the build has no program `ldb`; it has: db_bench",)


def test_the_declared_duration_is_the_deadlines() -> None:
    command = require_runner("command").command({"argv": ["x"], "duration": 5.0}, {}, CONTEXT)
    assert command.duration == 5.0
    assert command.env == {}


def test_options_as_a_server_takes_them() -> None:
    options, form = {"save": "", "io-threads": 2, "sync": True}, ("--{name}", "{value}")
    assert command_words(("x", "{options}"), options, CONTEXT, option_form=form) == (
        "x", "--save", "", "--io-threads", "2", "--sync", "true",
    )  # fmt: skip
    assert command_words(("x", "{options}"), {"a": "{name}"}, CONTEXT) == ("x", "--a={name}")
