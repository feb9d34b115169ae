"""Excerpts of what sysbench 1.0.20 prints; the real one is in tests/integration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from stepgrid.plugins.engine import IdentityError, Run
from stepgrid.plugins.registry import require_builder

SYSBENCH = require_builder("sysbench")
GENERAL = """\
Usage:
  sysbench [options]... [testname] [command]

General options:
  --threads=N                     number of threads to use [1]
  --forced-shutdown=STRING        number of seconds to wait after the --time limit before forcing shutdown [off]
  --thread-stack-size=SIZE        size of stack per thread [64K]
  --report-checkpoints=[LIST,...] dump full statistics and reset all counters at specified points in time. []
  --config-file=FILENAME          File containing command line options
  --rand-type=STRING random numbers distribution {uniform,gaussian,special,pareto} [special]

Compiled-in database drivers:
  mysql - MySQL driver
  pgsql - PostgreSQL driver

mysql options:
  --mysql-host=[LIST,...]          MySQL server host [localhost]
"""
OLTP = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

oltp_read_only options:
  --table_size=N                Number of rows per table [10000]
  --skip_trx[=on|off]           Don't start explicit transactions and execute all queries in the AUTOCOMMIT mode [off]
"""


def binary(said: Mapping[str, str]) -> Run:
    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        assert program == "sysbench"
        return said.get(" ".join(arguments), ""), ""

    return run


SAID = {"--version": "sysbench 1.0.20\n", "--help": GENERAL, "oltp_read_only help": OLTP}


def test_what_it_is() -> None:
    found = SYSBENCH.identify(binary(SAID))
    assert (found.version, found.assertions) == ("1.0.20", None)
    assert found.facts == {"said": "sysbench 1.0.20", "drivers": "mysql, pgsql"}


def test_its_options_and_those_of_its_workloads() -> None:
    found = SYSBENCH.catalogue(binary(SAID)) or {}
    assert {name: (option.type, option.default) for name, option in found.items()} == {
        "threads": ("number", "1"),
        "forced_shutdown": ("text", "off"),
        "thread_stack_size": ("size", "64K"),
        "report_checkpoints": ("list", ""),
        "config_file": ("text", ""),
        "rand_type": ("enum", "special"),
        "mysql_host": ("list", "localhost"),
        "table_size": ("number", "10000"),
        "skip_trx": ("bool", "off"),
    }
    assert found["rand_type"].help == "random numbers distribution {uniform,gaussian,special,pareto}"


def test_something_else_by_that_name() -> None:
    with pytest.raises(IdentityError, match=r"^sysbench --version does not say which it is; it said: nothing$"):
        SYSBENCH.identify(binary({}))
    with pytest.raises(IdentityError, match=r"^sysbench --help does not list its options; it said: nothing$"):
        SYSBENCH.catalogue(binary({}))
