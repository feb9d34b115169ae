import re
from pathlib import Path

import duckdb
import pytest

from stepgrid.collect.job import collect
from stepgrid.collect.tables import GROWING
from stepgrid.model import result_schema
from stepgrid.model.result_schema import MEANING
from stepgrid.plugins.metrics import METRICS
from tests.summarize.synthetic import Experiment

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/results.md"
QUERIES = re.findall(r"```sql\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = Experiment(tmp_path_factory.mktemp("columns"), loads=2)
    found.add_build("rocksdb-7.8.3")
    for load in range(2):
        found.add_load("rocksdb-7.8.3", load)
        for cache in found.caches:
            for threads in found.threads:
                found.add("rocksdb-7.8.3", cache, threads, load, {"readww": 1000.0, "overwrite": 2000.0})
    collect(found.store, found.plan)
    return found.store.tables(found.plan.digest)


def test_every_column_of_every_table_is_explained(tables: Path) -> None:
    with duckdb.connect() as connection:
        for path in sorted(tables.glob("*.parquet")):
            if path.stem == "columns":
                continue
            read = f"DESCRIBE SELECT * FROM '{path}'"
            there = {(name, kind) for name, kind, *_ in connection.execute(read).fetchall()}
            query = f"SELECT column_name, type, meaning FROM '{tables}/columns.parquet' WHERE table_name = ?"
            said = connection.execute(query, [path.stem]).fetchall()
            assert {(name, kind) for name, kind, _ in said} == there, path.stem
            assert all(meaning for _, _, meaning in said), path.stem


def test_nothing_is_explained_that_is_not_there() -> None:
    fixed = {
        "history": result_schema.HISTORY,
        "environment": result_schema.ENVIRONMENT,
        "metrics": result_schema.METRICS,
    }
    grown = {name: set(types) for name, types in GROWING.items() if name != "attempts"}
    grown["samples"] -= METRICS.keys()  # these are explained where they are defined
    known = {**fixed, **grown, "steps": result_schema.steps((), ())}
    assert {table: set(columns) for table, columns in MEANING.items()} == {
        table: set(columns) for table, columns in known.items()
    }


@pytest.mark.parametrize("query", QUERIES)
def test_the_examples_of_the_page_work(query: str, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    with duckdb.connect() as connection:
        assert connection.execute(query).fetchall()


def test_the_page_has_examples() -> None:
    assert len(QUERIES) >= 3
