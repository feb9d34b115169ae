"""What a server takes; tried with mysqld 9.7.4."""

from __future__ import annotations

import pytest

from stepgrid.engines.mysqld.option_values import meant
from stepgrid.plugins.engine import Spelling
from stepgrid.plugins.engines import engine

CATALOGUE = {"log_bin": {"type": "text"}, "autocommit": {"type": "bool"}, "sort_buffer_size": {"type": "number"}}
SWITCH = {"type": "switch"}


@pytest.mark.parametrize(
    ("name", "info"),
    [
        ("skip_log_bin", SWITCH),
        ("disable_log_bin", SWITCH),
        ("enable_autocommit", SWITCH),
        ("loose_autocommit", {"type": "bool"}),
        ("loose_skip_autocommit", SWITCH),
        ("loose_of_a_plugin", {}),
        ("maximum_sort_buffer_size", {"type": "number"}),
        ("maximum_autocommit", None),
        ("skip_sort_buffer_size", None),
        ("skip_loose_autocommit", None),
        ("skip_nothing", None),
        ("other_autocommit", None),
        ("skip", None),
    ],
)
def test_names_with_a_prefix(name: str, info: dict[str, str] | None) -> None:
    assert meant(name, CATALOGUE) == info


def test_whose_they_are() -> None:
    assert [name for name in ("mysql", "mariadb", "postgres", "rocksdb") if isinstance(engine(name), Spelling)] == [
        "mysql",
        "mariadb",
    ]
