"""Only regular files are read, and no more of them than a bound."""

import os
from pathlib import Path

import pytest

from stepgrid.language.files import MOST_BYTES, NotRegularError, head


def test_no_more_than_tells_that_there_is_more(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(MOST_BYTES + 100))
    assert len(head(str(large))) == MOST_BYTES + 1


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (("/dev/zero", "a pipe or a device"), (tmp_path / "pipe", "a pipe or a device")):
        with pytest.raises(NotRegularError, match=said):
            head(str(path))
    with pytest.raises(NotRegularError, match="a folder"):
        head(str(tmp_path))
