from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host import files
from stepgrid.host.files import read_bytes


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1, 200_000])
def test_all_of_it_or_its_beginning(tmp_path: Path, size: int) -> None:
    file, text = tmp_path / "a", bytes(at % 251 for at in range(size))
    file.write_bytes(text)
    assert read_bytes(file) == read_bytes(str(file)) == text
    for most in (0, 1, 2**16, 2**16 + 1, 300_000):
        assert read_bytes(file, most) == text[:most]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


TEXTS = (
    b'{"a": [1, 2.5, null, true, "x"]}', b"[]", b"", b"{", b'{"a": "\\ud800"}', b'{"a": "\\u00e9"}', b"[" * 100_000,
    b'{"a": 1, "a": 2}', b"[NaN, Infinity]", b"1" * 5000, b'{"a": "\xff"}', b'{"a": 123456789012345678901234567890}',
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_few_files_and_many_are_parsed_alike(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed() -> str:
        try:
            return repr(files.parse_json(text))
        except ValueError:
            return "no JSON"

    monkeypatch.setattr(files, "_parser", None)
    monkeypatch.setattr(files, "_few", iter(range(1)))
    assert parsed() == parsed(), "the second was one of many"


def test_a_few_files_need_no_library(tmp_path: Path) -> None:
    """Its import takes longer than a job reads files."""
    (tmp_path / "a.json").write_text('{"a": 1}')
    code = "import sys; from stepgrid.host import files; print(files.read_json('a.json'), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("{'a': 1} ")
    assert "pydantic_core" not in done.stdout.split()


def test_a_device_is_empty(tmp_path: Path) -> None:
    (tmp_path / "attempt.json").symlink_to("/dev/zero")
    assert files.read_bytes(tmp_path / "attempt.json") == b""


def test_a_pipe_is_empty_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "result.json")
    assert files.read_bytes(tmp_path / "result.json") == b""
    assert files.read_json(tmp_path / "result.json") == {}
