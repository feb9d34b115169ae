"""Enumerations, from the words of the help."""

import pytest

from stepgrid.engines.mysqld.option_help import choices


@pytest.mark.parametrize(
    ("help_", "default", "expected"),
    [
        ("With which method to flush data.. One of: fsync, O_DSYNC, O_DIRECT", "O_DIRECT", "fsync O_DSYNC O_DIRECT"),
        ("Compression used. One of: none, zlib, or snappy", "zlib", "none zlib snappy"),
        (
            "Enable it. One of: ON, OFF, FORCE (don't start if it fails), FORCE_PLUS (like FORCE, but not removed).",
            "ON",
            "ON OFF FORCE FORCE_PLUS",
        ),
        (
            "Possible values are REDUNDANT, and DYNAMIC. COMPRESSED is not allowed. One of: redundant, dynamic",
            "dynamic",
            "redundant dynamic",
        ),
        ("The scheduler. Possible values are ON, OFF, and DISABLED (it cannot be activated)", "ON", "ON OFF DISABLED"),
        ("Possible values are NONE and CRC32; default is CRC32.", "CRC32", "NONE CRC32"),
        ("Possible values are OFF, COMMIT or ROLLBACK.", "OFF", "OFF COMMIT ROLLBACK"),
        ("Possible values are ON, OFF, FORCE (don't start if the plugin fails to load).", "ON", ""),
        ("Possible values are CRC32 (fast) write crc32, allow others; INNODB write innodb", "crc32", ""),
        ("One of: a, b", "c", ""),
        ("Size of it", "1", ""),
    ],
)
def test_what_they_are(help_: str, default: str, expected: str):
    assert choices(help_, default) == tuple(expected.split())
