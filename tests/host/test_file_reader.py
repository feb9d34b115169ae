from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.host.file_reader import content


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1, 200_000])
def test_all_of_it_or_its_beginning(tmp_path: Path, size: int) -> None:
    file, text = tmp_path / "a", bytes(at % 251 for at in range(size))
    file.write_bytes(text)
    assert content(file) == content(str(file)) == text
    for most in (0, 1, 2**16, 2**16 + 1, 300_000):
        assert content(file, most) == text[:most]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        content(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        content(tmp_path)
