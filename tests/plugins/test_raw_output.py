"""Outputs of strangers: what has no end, unpacks to more than memory or is no file is refused, by its name."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.plugins import driver
from stepgrid.plugins.driver import RawOutputError, read_output

Capture = pytest.CaptureFixture[str]


def test_plain_and_gzipped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\n")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"two\n"))
    assert read_output(tmp_path / "a") == b"one\n"
    assert read_output(tmp_path / "a.gz") == b"two\n"
    with pytest.raises(FileNotFoundError):
        read_output(tmp_path / "b")


def test_what_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").write_bytes(bytes(1 << 20))
    (tmp_path / "zeros.gz").write_bytes(gzip.compress(bytes(1 << 20)))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"text")[:-4])
    for name, largest, why in (
        ("pipe", 9, "it is no regular file"),
        ("/dev/zero", 9, "it is no regular file"),
        ("zeros", 1 << 10, "it has more than 1 KiB"),
        ("zeros.gz", 1 << 10, "it has more than 1 KiB"),
        ("cut.gz", 1 << 20, "Compressed file ended before the end-of-stream marker was reached"),
    ):
        with pytest.raises(RawOutputError) as caught:
            read_output(tmp_path / name, largest)
        assert str(caught.value) == why


@pytest.mark.parametrize("kind", ["db_bench", "sysbench", "linkbench"])
def test_parse_says_so(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert main(["parse", kind, "/dev/zero"]) == 2
    assert capsys.readouterr().err == "/dev/zero cannot be read: it is no regular file\n"
    monkeypatch.setattr(driver, "LARGEST", 1 << 10)
    monkeypatch.setattr(driver.read_output, "__defaults__", (1 << 10,))
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(1 << 20)))
    assert main(["parse", kind, str(tmp_path / "a.gz")]) == 2
    assert capsys.readouterr().err == f"{tmp_path}/a.gz cannot be read: it has more than 1 KiB\n"


def test_a_number_of_5000_digits(tmp_path: Path, capsys: Capture) -> None:
    digits = "9" * 5000
    (tmp_path / "a").write_text(
        f"fillseq : 2.5 micros/op 3 ops/sec 1.2 seconds {digits} operations;\nCount: {digits} A\n"
    )
    assert main(["parse", "db_bench", str(tmp_path / "a")]) in (0, 2)
    assert "internal error" not in capsys.readouterr().err


def test_a_link_out_of_a_published_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("p4ss\n")
    (tmp_path / "d" / "in").mkdir(parents=True)
    (tmp_path / "d" / "sb.o.x").symlink_to("../secret")
    (tmp_path / "d" / "inside").symlink_to("in")
    assert main(["import", "sysbench", "d"]) == 1
    said = capsys.readouterr().err
    assert said == (
        "d/sb.o.x: is a link out of the folder: replace it by a copy of what it leads to\nnothing was imported\n"
    )
