"""Engines: what they can do by release. The boundaries are those of the release notes."""

import pytest

from stepgrid.plugins.registry import engine


@pytest.mark.parametrize(
    ("name", "capability", "without", "having"),
    [
        ("mysql", "redo_log_capacity", "8.0.28", "8.0.30"),
        ("mysql", "redo_log_capacity", "5.7.40", "8.4.0"),
        ("mysql", "initialize", "5.6.51", "5.7.22"),
        ("mysql", "idle_flush_pct", "8.0.15", "8.0.31"),
        ("mysql", "use_fdatasync", "8.0.25", "8.0.26"),
        ("mysql", "vector_type", "8.0.40", "9.7"),
        ("mariadb", "vector_index", "11.4.5", "11.7.1"),
        ("mariadb", "vector_index", "10.11.6", "11.8"),
        ("mariadb", "myrocks", "10.1.48", "10.5"),
        ("mariadb", "single_redo_log", "10.4.34", "10.5.1"),
        ("mariadb", "redo_log_resize", "10.6", "10.11"),
        ("mariadb", "descending_indexes", "10.6", "10.11"),
        ("postgres", "io_method", "17.1", "18.6"),
        ("postgres", "vacuum_index_cleanup", "11.22", "12.22"),
        ("postgres", "jit", "9.6.24", "15.1"),
        ("postgres", "pg_stat_checkpointer", "16.2", "17.11"),
        ("rocksdb", "multiread_batched", "6.0.2", "6.11.4"),
        ("rocksdb", "waitforcompaction", "6.11.4", "6.19.3"),
        ("rocksdb", "flush", "6.11.4", "6.20.3"),
        ("rocksdb", "prepopulate_block_cache", "6.19.3", "6.22.1"),
        ("rocksdb", "cache_type", "7.3.1", "7.4.3"),
        ("rocksdb", "hyper_clock_cache", "7.6.0", "7.7.2"),
        ("rocksdb", "auto_hyper_clock_cache", "8.5.4", "8.6.7"),
        ("rocksdb", "waitforcompaction_universal", "8.6.7", "8.7.3"),
        ("rocksdb", "enable_blob_files", "6.17.3", "6.18.1"),
    ],
)
def test_capabilities_by_release(name: str, capability: str, without: str, having: str) -> None:
    found = engine(name)
    assert capability not in found.capabilities(without)
    assert capability in found.capabilities(having)


@pytest.mark.parametrize("name", ["mysql", "mariadb", "postgres"])
def test_where_a_server_listens_is_not_the_specs_business(name: str) -> None:
    assert engine(name).reserved["port"] == ""
