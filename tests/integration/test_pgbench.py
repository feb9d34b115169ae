"""pgbench on two majors of PostgreSQL, by the shipped spec, and SQL of one's own, by the page that shows it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.docs.pages import DOCS, write_files
from tests.integration.conftest import ROOT, Lab
from tests.integration.test_examples import python
from tests.needs import needs

pytestmark = needs("apt", "maven")
QUIET = {"STEPGRID_LOOK": "0"}
PERCENTILES = {"p50_us": 0.5, "p75_us": 0.75, "p95_us": 0.95, "p99_us": 0.99, "p99_9_us": 0.999, "p99_99_us": 0.9999}
COLUMNS = "{'client': 'INT', 'number': 'INT', 'us': 'VARCHAR', 'script': 'INT', 'second': 'BIGINT', 'part': 'INT'}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("pgbench"))


def rows(lab: Lab, sql: str) -> list[tuple[object, ...]]:
    """Of the newest report; `{steps}` is its table."""
    tables = max(lab.folder.glob("outputs/summary/*/tables"), key=lambda path: path.stat().st_mtime)
    return duckdb.sql(sql.format(steps=f"'{tables}/steps.parquet'")).fetchall()


def logs(lab: Lab) -> Iterator[Path]:
    """Folders of steps that logged all their transactions."""
    for folder in sorted(lab.folder.glob("outputs/results/*/*/steps/*")):
        if list(folder.glob("transactions.*")):
            yield folder


@pytest.mark.nightly
def test_two_majors(lab: Lab) -> None:
    """Percentiles, means and counts are those that DuckDB computes of the same log."""
    text = (ROOT / "specs" / "pgbench.yaml").read_text(encoding="utf-8")
    lab.write(re.sub(r"include: \[.*\]", f"include: [{', '.join(map(str, included()))}]", text))
    done = lab.run("--scale", "smoke", timeout=500, **QUIET)
    assert done.returncode == 0, done.stdout + done.stderr
    builds = rows(lab, "SELECT DISTINCT build FROM {steps} ORDER BY 1")
    assert builds == [("postgres-15.19",), ("postgres-18.6",)]
    loads = rows(lab, "SELECT operations, qps * seconds, insert_seconds + index_seconds < seconds FROM {steps} "
                      "WHERE step = 'load'")  # fmt: skip
    assert loads == [(100_011.0, pytest.approx(100_011), True)] * 2
    checked = [check_figures(lab, folder) for folder in logs(lab)]
    assert len(checked) == 6


def check_figures(lab: Lab, folder: Path) -> bool:
    shares = [*PERCENTILES.values()]
    log = f"read_csv('{folder}/transactions.*', delim=' ', header=false, columns={COLUMNS})"
    computed = duckdb.sql(
        f"SELECT count(*), avg(us), max(us), quantile_disc(us, {shares}) FROM (SELECT us::BIGINT AS us FROM {log})"
    ).fetchall()
    stage, attempt, step = folder.parts[-4], folder.parts[-3], folder.name.split("-", 1)[1]
    names = f"operations, avg_us, max_us, [{', '.join(PERCENTILES)}]"
    where = f"stage = '{stage}' AND attempt = '{attempt}' AND step = '{step}'"
    ((count, mean, most, percentiles),) = rows(lab, f"SELECT {names} FROM {{steps}} WHERE {where}")
    assert [(count, pytest.approx(mean), most, percentiles)] == computed
    return True


def included() -> list[Path]:
    return [ROOT / "specs" / "library" / f"{name}.yaml" for name in ("postgres", "pgbench")]


@pytest.mark.nightly
def test_the_page_about_sql_of_ones_own(lab: Lab) -> None:
    """Its spec, at a smaller size: p99 is what is compared and claimed; statements have latencies by number."""
    write_files(DOCS / "how-to" / "own-sql.md", lab.folder)
    spec = (lab.folder / "sql.yaml").read_text(encoding="utf-8")
    lab.write(re.sub(r"library/(\w+)\.yaml", rf"{ROOT}/specs/library/\1.yaml", spec))
    small = ("params.duration=1s", "params.accounts=2000", "repeat=2")
    done = lab.run(*(word for value in small for word in ("--set", value)), timeout=500, **QUIET)
    assert done.returncode == 0, done.stdout + done.stderr
    texts = [path.read_text() for path in lab.folder.glob("outputs/summary/*/summary.txt")]
    text = next(text for text in texts if text.startswith("own SQL"))
    assert "p99_us relative to postgres-15.19" in text
    assert "()" not in text
    assert "18 answers 99 % of the paced transfers within a second" in text
    figures = rows(lab, "SELECT step, bool_and(transfer_avg_us > 0 AND lookup_p99_us <= p99_99_us), "
                        "bool_and(statement_2_us > 0), count(statement_4_us), bool_and(failed_transactions = 0), "
                        "count(target_met) FROM {steps} "
                        "WHERE measured AND status = 'done' GROUP BY step ORDER BY step")  # fmt: skip
    assert figures == [("mixed", True, None, 0, True, 0), ("paced", None, True, 4, True, 4)]
    kept = json.loads(next(lab.folder.glob("outputs/results/*/*/steps/*-paced/command.json")).read_text())
    assert kept["env"]["PGPASSWORD"] == "***"


BAD = f"""\
title: SQL that fails
include: [{", ".join(map(str, included()))}]
builds: {{postgres: {{extends: postgres.zonky, version: 18.6}}}}
steps: [{{name: bad, kind: pgbench, scripts: {{bad: {{sql: SELECT * FROM nowhere}}}}, duration: 1s}}]
repeat: 1
"""


def test_sql_that_fails_says_why(lab: Lab) -> None:
    lab.write(BAD)
    done = lab.run(timeout=240, **QUIET)
    assert done.returncode == 3
    failures = lab.folder.glob("outputs/attempts/*/*/failure.json")
    assert {json.loads(path.read_text())["message"] for path in failures} == {
        'pgbench failed: client 0 script 0 aborted in command 0 query 0: ERROR:  relation "nowhere" does not exist'
    }


def test_the_plugin_of_the_page_conforms_from_nothing(lab: Lab, tmp_path: Path) -> None:
    """Each file that the page shows, in an empty folder, installed into an environment of its own."""
    write_files(DOCS / "plugins.md", tmp_path / "stepgrid-tps")
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    interpreter = python(tmp_path / "venv", tmp_path / "stepgrid-tps")
    (words,) = re.findall(r"^pytest (--pyargs stepgrid.conformance --driver tps .*)$", page, re.MULTILINE)
    words = f"-m pytest -q -p no:cacheprovider {words} --folder {lab.folder}".split()  # where the builds are
    folder, env = tmp_path / "stepgrid-tps", {**os.environ, **QUIET}
    done = subprocess.run([interpreter, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^18 passed in ", done.stdout, re.MULTILINE), done.stdout
