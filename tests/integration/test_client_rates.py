"""What the insert benchmark's clients report by the second adds up to what they did."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.insert_benchmark import run
from tests.integration.sysbench import Bench, bench


@pytest.fixture
def server(server_builds: Path) -> Iterator[Bench]:
    folder = Path(tempfile.mkdtemp(prefix="client-rates-"))  # where everyone may go
    folder.chmod(0o755)
    with bench(server_builds, "mariadb", "innodb", folder) as found:
        yield found
    shutil.rmtree(folder)


def test_the_intervals_of_each_client_add_up_to_what_it_did(server: Bench) -> None:
    """Also the part of a second at the end, of which sysbench's last report is."""
    run(server, "load", rows=2000, clients=2, anew=True)
    run(server, "index", clients=2)
    step = run(
        server, "query", clients=2, deletes=True, insert_rate=500, rows_per_commit=50, duration=2.0, ends="clock"
    )
    done = {(each["client"], each["operation"]): each["count"] for each in step.lines if each["report"] == "role"}
    summed: dict[tuple[int, str], float] = defaultdict(float)
    reported = [line for line in step.lines if line["report"] == "client"]
    for line in reported:
        for name, key in (("insert", "inserts"), ("delete", "deletes"), ("query", "queries")):
            summed[line["client"], name] += line[key]
    assert summed == done
    for client in range(2):
        lines = [line for line in reported if line["client"] == client]
        assert sum(line["interval"] for line in lines) == pytest.approx(lines[-1]["second"], abs=0.01)
