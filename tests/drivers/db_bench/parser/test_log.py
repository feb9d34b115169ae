"""The engine's own log: what it is, and what it runs with."""

import json
from pathlib import Path

import pytest

from stepgrid.drivers.db_bench.parser import log

TIME = "2026/11/21-18:08:10.123456 7f32 "
LOG = f"""\
{TIME}RocksDB version: 9.9.3
{TIME}Git sha 2e09a54c4fb82e88bcaa3e7cfa8ccbbbbf3635d5
{TIME}Compile date 2024-12-19 10:11:12
{TIME}DB SUMMARY
{TIME}                      Options.max_background_jobs: 12
{TIME}                         Options.env: 0x55d0
{TIME}               Options.statistics: (nil)
{TIME}--------------- Options for column family [default]:
{TIME}           table_factory options:   flush_block_policy_factory: FlushBlockBySizePolicyFactory (0x55d1)
  cache_index_and_filter_blocks: 1
  block_cache_options:
    capacity : 33554432
  block_size: 8192
{TIME}        Options.write_buffer_size: 16777216
{TIME}        Options.compression_opts.level: 32767
{TIME}--------------- Options for column family [other]:
{TIME}        Options.write_buffer_size: 5
{TIME}EVENT_LOG_v1 {{"time_micros": 1, "event": "flush_started"}}
"""


def test_what_it_runs_with(tmp_path: Path) -> None:
    """Addresses are others in every run."""
    (tmp_path / "LOG").write_text(LOG)
    found = log.facts(tmp_path)
    assert json.loads(found.pop("options")) == {
        "max_background_jobs": "12",
        "statistics": "(nil)",
        "cache_index_and_filter_blocks": "1",
        "capacity": "33554432",
        "block_size": "8192",
        "write_buffer_size": "16777216",
        "compression_opts.level": "32767",
    }
    assert found == {
        "engine_version": "9.9.3",
        "git_sha": "2e09a54c4fb82e88bcaa3e7cfa8ccbbbbf3635d5",
        "compiled": "2024-12-19 10:11:12",
    }


@pytest.mark.parametrize(
    ("line", "sha"),
    [
        ("Git sha rocksdb_build_git_sha:@2e09a54c4f@", "2e09a54c4f"),
        ("Git sha rocksdb_build_git_sha:2e09a54c4f", "2e09a54c4f"),
        ("Git sha 0", None),
    ],
)
def test_what_packages_and_old_releases_say_of_their_commit(line: str, sha: str | None, tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text(f"{TIME}{line}\n")
    assert log.facts(tmp_path).get("git_sha") == sha


def test_a_fork_says_its_own_release_and_what_it_is_based_on(tmp_path: Path) -> None:
    lines = (f"{TIME}Speedb version: 2.8.0-? (8.6.7)", f"{TIME}Git sha c328f0ebc33db0166cd2a2844ff44c8034e30e5b")
    (tmp_path / "LOG").write_text("\n".join((*lines, f"{TIME}Compile date  ")) + "\n")
    assert log.facts(tmp_path) == {
        "engine_version": "2.8.0-? (8.6.7)",
        "git_sha": "c328f0ebc33db0166cd2a2844ff44c8034e30e5b",
    }


def test_a_step_whose_log_was_not_kept(tmp_path: Path) -> None:
    assert log.facts(tmp_path) == {}
