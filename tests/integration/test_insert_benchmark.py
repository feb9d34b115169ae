"""The insert benchmark on real servers: every row is there, rates are kept, and what fails says so."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.insert_benchmark import checked, run
from tests.integration.sysbench import Bench, bench

ALL = "count, min, max, checksum"
QUICK = {"rows_per_commit": 50, "insert_rate": 500, "duration": 1.0}


@pytest.fixture(scope="module", params=["mariadb-innodb", "mariadb-rocksdb", "mysql-innodb", "postgres-heap"])
def server(server_builds: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    folder = Path(tempfile.mkdtemp(prefix="insert-benchmark-"))  # where everyone may go
    folder.chmod(0o755)
    engine, storage = request.param.split("-")
    with bench(server_builds, engine, storage, folder) as found:
        yield found
    shutil.rmtree(folder)


@pytest.mark.parametrize("clients", [1, 2, 3, 4])
def test_every_row_is_there(server: Bench, clients: int) -> None:
    run(server, "load", rows=3000, clients=clients, anew=True)
    loaded = checked(server)
    assert [(line["rows"], line["checked"]) for line in loaded] == [(3000, ALL)] * clients
    run(server, "index", clients=clients)
    run(server, "insert", rows=1010, rows_per_commit=50, clients=clients, deletes=True)
    run(server, "query", clients=clients, deletes=True, **QUICK)
    lines = checked(server)
    assert [(line["rows"], line["checked"]) for line in lines] == [(3100, ALL)] * clients
    for line in lines:
        assert server.number(f"SELECT count(*) FROM pi{line['table']}") == 3100
        assert server.number(f"SELECT min(transactionid) FROM pi{line['table']}") == line["min"] > 1500
    assert len({line["checksum"] for line in (*loaded, *lines)}) == 2 * clients
