from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.store import checksums

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    (folder / "steps" / "0-fill").mkdir(parents=True)
    (folder / "steps" / "0-fill" / "stdout").write_text("put: 1 ops\n")
    (folder / "attempt.json").write_text("{}")
    (folder / "result.json").write_text("{}")
    return folder


def test_every_file_but_the_record_has_its_size_and_checksum(result: Path) -> None:
    (result / "steps" / "0-fill" / ".stdout.77").write_text("half made")
    (result / "link").symlink_to("attempt.json")
    os.mkfifo(result / "pipe")
    digest = hashlib.sha256(b"put: 1 ops\n").hexdigest()
    found = checksums.of(result)
    assert [*found] == ["attempt.json", "steps/0-fill/stdout"]
    assert found["steps/0-fill/stdout"] == {"bytes": 11, "sha256": digest}


def test_a_file_of_more_than_one_reading(result: Path) -> None:
    content = os.urandom(checksums.AT_ONCE * 2 + 7)
    (result / "LOG").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    assert checksums.of(result)["LOG"] == {"bytes": len(content), "sha256": digest}


def test_what_came_later_is_no_difference(result: Path) -> None:
    files = checksums.of(result)
    (result / "figures.db_bench.5.json").write_text("{}")
    (result / "retracted.json").write_text("{}")
    assert checksums.difference(result, files) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "`steps/0-fill/stdout` has 0 bytes, it was published with 11"),
        (b"put: 9 ops\n", "the checksum of `steps/0-fill/stdout` differs from the published one"),
        (None, "`steps/0-fill/stdout` is missing"),
    ],
)
def test_a_difference_is_named(result: Path, content: bytes | None, said: str) -> None:
    files, path = checksums.of(result), result / "steps" / "0-fill" / "stdout"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert checksums.difference(result, files) == said


def test_a_folder_in_the_place_of_a_file(result: Path) -> None:
    files = checksums.of(result)
    (result / "attempt.json").unlink()
    (result / "attempt.json").mkdir()
    assert checksums.difference(result, files) == "`attempt.json` cannot be read (Is a directory)"


LOOK = """
import json, sys
from pathlib import Path
from stepgrid.store import checksums
result, files = Path(sys.argv[1]), json.loads(sys.argv[2])
print(checksums.difference(result, files), *checksums.of(result))
"""
# root without its right to read every file
POWERLESS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_a_lack_of_permission_says_nothing_of_a_file(result: Path) -> None:
    files = checksums.of(result)
    (result / "attempt.json").chmod(0)
    argv = [*(POWERLESS if os.geteuid() == 0 else []), sys.executable, "-c", LOOK, str(result), json.dumps(files)]
    done = subprocess.run(
        argv, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    )
    assert (done.stdout, done.stderr) == ("None steps/0-fill/stdout\n", "")
