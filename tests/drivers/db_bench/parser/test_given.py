"""Files that people already have: what can be read of them, and what is left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stepgrid.drivers.db_bench.parser import standalone_output
from stepgrid.model.figures import ParseError


def test_half_a_line_is_left_out(tmp_path: Path) -> None:
    """It could end in half a number."""
    path = tmp_path / "a.log"
    path.write_text("rocksdb.block.cache.miss COUNT : 7284\nrocksdb.block.cache.hit COUNT : 31")
    assert standalone_output.read(path) == (
        "rocksdb.block.cache.miss COUNT : 7284\n",
        ("the file ends in the middle of a line, which is left out",),
    )


def test_line_ends_of_another_system(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"Uptime(secs): 4.2 total, 1.0 interval\r\n\r\n")
    assert standalone_output.read(tmp_path / "a.log") == ("Uptime(secs): 4.2 total, 1.0 interval\n\n", ())


def test_a_packed_file_that_is_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(b"readrandom : 1.0 micros/op\n" * 1000)
    for content in (packed[:40], packed[:12] + b"\xff" * 20 + packed[32:]):
        (tmp_path / "a.gz").write_bytes(content)
        with pytest.raises(ParseError, match=r"a\.gz cannot be read: "):
            standalone_output.read(tmp_path / "a.gz")
