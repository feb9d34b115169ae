from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.engines.mysqld.configuration import render, value
from stepgrid.plugins.server import Access, ServerHome

ACCESS = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "p", "d", "innodb")
HOME = ServerHome({}, "11.8.6", Path("/live/data"), Path("/attempt/server"), ACCESS, Path("/live/scratch"))


@pytest.mark.parametrize(
    ("name", "given", "written"),
    [
        ("a", True, "ON"),
        ("a", False, "OFF"),
        ("skip_log_bin", True, "1"),  # skip_log_bin=OFF would turn the log off as well
        ("skip-log-bin", False, "0"),
        ("a", 1048576, "1048576"),
        ("a", "O_DIRECT", "O_DIRECT"),
        ("a", "index_merge=on,mrr=off", "index_merge=on,mrr=off"),
        ("a", "", ""),
        ("a", "a # b", '"a # b"'),
        ("a", " a", '" a"'),
        ("a", 'a "b"', '"a \\"b\\""'),
        ("a", "C:\\x", '"C:\\\\x"'),
        ("a", "1\nuser = root", '"1\\nuser = root"'),
    ],
)
def test_a_value_as_an_option_file_has_it(name: str, given: Any, written: str) -> None:
    assert value(given, name) == written


def test_what_the_spec_asks_for_comes_last() -> None:
    text = render(HOME, {"innodb_buffer_pool_size": 64, "skip_log_bin": True}, ("plugin_load_add = ha_rocksdb",))
    assert text == (
        "# rendered by stepgrid; what the spec asks for comes last\n"
        "[mysqld]\n"
        "datadir = /live/data\n"
        "tmpdir = /live/scratch\n"
        "socket = /s/mysqld.sock\n"
        "pid_file = /s/mysqld.pid\n"
        "skip_networking = 1\n"
        "loose_secure_file_priv =\n"
        "default_storage_engine = innodb\n"
        "plugin_load_add = ha_rocksdb\n"
        "\n"
        "innodb_buffer_pool_size = 64\n"
        "skip_log_bin = 1\n"
    )
