"""Checksums of what a spec names: read once, and again when it was touched."""

import hashlib
import os
import time
from pathlib import Path

from stepgrid.language.files import SETTLED, checksum, is_unchanged, record_inputs, reuse_checksums

LONG_AGO = (1_000_000_000, 1_000_000_000)


def settle() -> None:
    """Until the file system's clock has moved on."""
    time.sleep(SETTLED / 1e9 + 0.05)


def test_what_was_not_touched_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one")
    settle()
    with record_inputs() as seen:
        found = checksum(str(path))
    mark, known = seen.inputs[str(path)]
    assert known == found
    with reuse_checksums({str(path): (mark, "as it was known")}):
        assert checksum(str(path)) == "as it was known"
        path.write_bytes(b"two")
        assert checksum(str(path)) == hashlib.sha256(b"two").hexdigest()
    assert is_unchanged(str(path), mark, hashlib.sha256(b"two").hexdigest())
    assert not is_unchanged(str(path), mark, known)


def test_what_was_touched_just_now_has_no_mark(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"one")
    os.utime(tmp_path / "x", LONG_AGO)  # which touches it
    with record_inputs() as seen:
        found = checksum(str(tmp_path / "x"))
    assert seen.inputs[str(tmp_path / "x")] == ("", found)
    assert is_unchanged(str(tmp_path / "x"), "", found)
