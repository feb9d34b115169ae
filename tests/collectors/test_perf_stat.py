"""Whether a perf looks on yet, by a real one."""

import subprocess
import time

import pytest

from stepgrid_databases.collectors.perf_stat import is_attached
from tests.needs import may_profile, needs


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


@needs("perf")
@pytest.mark.parametrize("words", [["stat", "-o", "/dev/null"], ["record", "-o", "perf.data"]])
def test_a_perf_that_looks_on(words, sleeper, tmp_path, monkeypatch):
    if not may_profile():
        pytest.skip("perf may not look at processes here: see kernel.perf_event_paranoid")
    monkeypatch.chdir(tmp_path)
    with subprocess.Popen(["perf", *words, "-p", str(sleeper)], stderr=subprocess.DEVNULL) as perf:
        until = time.monotonic() + 60
        while not is_attached(perf.pid) and time.monotonic() < until:
            time.sleep(0.01)
        seen = is_attached(perf.pid)
        perf.terminate()
    assert seen


def test_what_is_no_perf(sleeper):
    assert not is_attached(sleeper)


def test_what_has_ended():
    assert not is_attached(2**22 + 1)
