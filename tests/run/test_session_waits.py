"""What a server's sessions waited for while a step ran."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.collect import counts
from stepgrid.plugins.server import Access
from stepgrid.run import collectors
from tests.engines.told import Told

ACCESS = Access("postgres", Path(), Path("s"), 5432, "stepgrid", "", "stepgrid", "heap")
AT_WORK: Mapping[str, int] = {"IO:WALSync": 2, "": 1}


class Server:
    """It answers what was prepared, and then that nobody is at work."""

    def __init__(self, *answers: Mapping[str, int]) -> None:
        self.answers, self.connection = [*answers], Told({})

    def connect_aside(self, access: Access) -> Told:
        return self.connection

    def session_waits(self, connection: object, access: Access) -> Mapping[str, int]:
        if not self.answers:
            raise ConnectionError("the server is gone")
        return self.answers.pop(0)


def sample(monkeypatch: pytest.MonkeyPatch, folder: Path, server: object) -> Any:
    monkeypatch.setattr(collectors, "server_engine", lambda name: server)
    with collectors.SessionSampler(ACCESS) as sampler:
        end = time.monotonic() + 10
        while getattr(server, "answers", None) and time.monotonic() < end:
            time.sleep(0.01)
    (folder / "statistics").mkdir(exist_ok=True)
    sampler.write(folder / "statistics")
    path = folder / "statistics/sessions.json"
    return json.loads(path.read_text()) if path.exists() else None


def test_looks_count_from_the_first_session_at_work_to_the_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = Server({}, AT_WORK, {}, AT_WORK, {}, {})
    assert sample(monkeypatch, tmp_path, server) == {"looks": 3, "sessions": {"IO:WALSync": 4, "": 2}}
    figures = {"operations": 1000.0, "qps": 500.0}
    assert sorted(counts.session_counts(tmp_path, {"seconds": 9.0}, figures)) == [
        ("session waits", "IO:WALSync", pytest.approx(4 / 3 * 2e6)),
        ("session waits", "running", pytest.approx(2 / 3 * 2e6)),
    ]


@pytest.mark.parametrize("server", [Server({}, {}), Server(), object()], ids=["idle", "gone", "does not tell"])
def test_a_server_that_tells_nothing_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: object
) -> None:
    assert sample(monkeypatch, tmp_path, server) is None
    assert list(counts.session_counts(tmp_path, {"seconds": 9.0}, {})) == []
