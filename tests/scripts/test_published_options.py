"""Option sets of specs/library are the published files that they are named after."""

import json

import pytest

from scripts import published_options as script

MY_CNF = """[mysqld]
# innodb_io_capacity=1
default-storage-engine=rocksdb
skip-innodb
loose_innodb_log_writer_threads=OFF
innodb_log_buffer_size=64M
innodb_io_capacity=1000
[mysqld_safe]
malloc-lib=jemalloc
"""
POSTGRESQL_CONF = """wal_compression = on
shared_buffers = 96GB   # a comment
wal_level='replica'
wal_compression = off
checkpoint_timeout=1800s
"""


def test_every_set_is_still_what_was_compared_with_its_file():
    """After a change of a set: `python -m scripts.published_options --write FOLDER`."""
    pairs = script.read_pairs()
    assert script.digests(pairs, script.resolve(pairs)) == json.loads(script.DIGESTS.read_text(encoding="utf-8"))


def test_the_server_section_of_a_my_cnf():
    assert script.parse(MY_CNF) == {
        "default_storage_engine": "rocksdb",
        "skip_innodb": "1",
        "innodb_log_writer_threads": "0",
        "innodb_log_buffer_size": str(64 * 2**20),
        "innodb_io_capacity": "1000",
    }


def test_the_last_line_of_a_name_counts():
    assert script.parse(POSTGRESQL_CONF) == {
        "wal_compression": "0",
        "shared_buffers": str(96 * 2**30),
        "wal_level": "replica",
        "checkpoint_timeout": "1800",
    }


@pytest.mark.parametrize(("ours", "theirs"), [("4GiB", "8G"), ("off", "on")])
def test_another_value_is_a_difference_without_a_reason(ours, theirs):
    options, file = ({"a": script.normalize("a", value)} for value in (ours, theirs))
    assert list(script.differences(options, file, {})) == [f"a: {options['a']} here, {file['a']} there"]
    assert list(script.differences(options, file, {"a": "a reason"})) == []
