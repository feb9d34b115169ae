"""A result whose files changed is set aside and measured again; one that only this version cannot read is not."""

import json
import os

import pytest

from stepgrid.collect import job, query, step_figures
from stepgrid.collect.job import UNCHANGED, collect
from stepgrid.host.locks import locked
from stepgrid.model.figures import ParseError
from stepgrid.model.status import Status
from stepgrid.workflow.remaining_work import remaining_work
from tests.summarize.synthetic import Experiment

BUILD, STAGE = "rocksdb-7.8.3", "s-7.8.3-lru-1-0"
QPS = {"readww": 1000.0, "overwrite": 500.0}


@pytest.fixture
def make(tmp_path):
    def made(**more):
        found = Experiment(tmp_path, loads=1, **more)
        found.add_build(BUILD)
        found.add_load(BUILD, 0)
        found.add(BUILD, "lru", "1", 0, QPS)
        return found

    return made


def folder(node):
    return node.result.folder if node.result else None


def rows(found, sql):
    with query.open_tables(found.store.tables(found.plan.digest)) as connection:
        return connection.execute(sql).fetchall()


def empty_stdout(result):
    (result / "steps" / "0-readww" / "stdout").write_text("")


def garbage(result):
    with (result / "steps" / "1-overwrite" / "samples.jsonl").open("a") as file:
        file.write('{"monotonic": nonsense}\n')


def truncated(result):
    os.truncate(result / "steps" / "1-overwrite" / "step.json", 20)


def plausible(result):
    """Read without a complaint: only its checksum tells."""
    path = result / "steps" / "0-readww" / "report.csv"
    path.write_text(path.read_text().replace("1000", "9000"))


def lost(result):
    (result / "steps" / "0-readww" / "report.csv").unlink()


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (empty_stdout, r"`steps/0-readww/stdout` has 0 bytes, it was published with "),
        (garbage, r"`steps/1-overwrite/samples.jsonl` has 46 bytes, it was published with 22"),
        (truncated, "`steps/1-overwrite/step.json` has 20 bytes, it was published with "),
        (plausible, "the checksum of `steps/0-readww/report.csv` differs from the published one"),
        (lost, "`steps/0-readww/report.csv` is missing"),
    ],
)
def test_it_is_set_aside_and_lacks(make, damage, why, monkeypatch, capsys):
    monkeypatch.setattr(Experiment, "_step", _with_samples(Experiment._step))
    found = make()
    result = found.store.result(STAGE)
    assert result is not None
    damage(result)
    state = collect(found.store, found.plan)[STAGE]
    (kept,) = found.store.attempts(STAGE)
    assert capsys.readouterr().err.startswith(f"{result} is broken: {why}")
    assert (state.status, state.log) == (Status.INTERRUPTED, kept)
    assert state.reason.startswith(f"it was complete, and is broken now: {why}")
    record = json.loads((kept / "failure.json").read_text())
    assert record["status"] == "broken"
    assert (kept / "result.json").is_file(), "nothing that was measured is deleted"
    assert not result.exists()
    assert not found.store.mark(STAGE).is_symlink()
    assert rows(found, f"SELECT DISTINCT status FROM steps WHERE stage = '{STAGE}'") == [("interrupted",)]
    assert rows(found, "SELECT DISTINCT stage FROM series") == [("s-7.8.3-load-0",)]
    left = remaining_work(found.plan, found.store)
    assert STAGE in left.lacking
    assert left.status.nodes[STAGE].reason == record["message"]


def _with_samples(step):
    def made(self, attempt, index, name, series):
        record = step(self, attempt, index, name, series)
        (attempt / "steps" / f"{index}-{name}" / "samples.jsonl").write_text('{"monotonic": 1000.0}\n')
        return record

    return made


def test_the_sentence_on_the_screen(make, capsys):
    found = make()
    result = found.store.result(STAGE)
    assert result is not None
    size = (result / "steps" / "0-readww" / "stdout").stat().st_size
    empty_stdout(result)
    collect(found.store, found.plan)
    kept = found.store.attempts(STAGE)[0]
    assert capsys.readouterr().err == (
        f"{result} is broken: `steps/0-readww/stdout` has 0 bytes, it was published with {size}. "
        f"It is kept in {kept}; the next run measures it again\n"
    )
    collect(found.store, found.plan)
    assert capsys.readouterr().err == ""


def test_an_older_result_counts_instead(make):
    found = make()
    older = found.store.result(STAGE)
    empty_stdout(found.add(BUILD, "lru", "1", 0, {"readww": 9000.0, "overwrite": 9000.0}))
    state = collect(found.store, found.plan)[STAGE]
    assert (state.status, folder(state)) == (Status.DONE, older)
    assert rows(found, f"SELECT qps FROM steps WHERE stage = '{STAGE}' AND step = 'readww'") == [(1000.0,)]


@pytest.fixture
def mistaken(monkeypatch):
    """A parser of a later version that cannot read one of the outputs."""

    class Parser:
        def parse(self, folder, settings):
            if folder.name == "0-readww":
                raise ParseError("no such line")
            return real.parse(folder, settings)

    real = step_figures.require_runner("db_bench")
    monkeypatch.setattr(step_figures, "require_runner", lambda _: Parser())


@pytest.mark.usefixtures("mistaken")
def test_a_fault_of_the_parser_is_no_damage(make, capsys):
    found = make()
    assert collect(found.store, found.plan)[STAGE].status == Status.DONE
    reasons = rows(found, f"SELECT status, reason FROM steps WHERE stage = '{STAGE}' AND step = 'readww'")
    assert reasons == [("failed", f"readww: no such line; {UNCHANGED}")]
    assert found.store.attempts(STAGE) == []
    assert capsys.readouterr().err == ""


def test_one_that_cannot_be_moved_now_has_no_figures(make):
    """Another process measures that stage again."""
    found = make()
    result = found.store.result(STAGE)
    assert result is not None
    (result / "attempt.json").write_text("{}")
    with locked(found.store.lock(STAGE)):
        state = collect(found.store, found.plan)[STAGE]
    assert state.status == Status.INTERRUPTED
    assert state.reason.startswith(f"the result {result} is broken: `attempt.json` has 2 bytes, ")
    assert result.exists()


def test_older_results_that_changed_are_no_history(make):
    found = make()
    older = found.store.result(STAGE)
    assert older is not None
    found.add(BUILD, "lru", "1", 0, QPS)
    assert _history(found) == {("readww", 1000.0), ("overwrite", 500.0)}
    for cache in older.glob("figures.*"):
        cache.unlink()
    plausible(older)
    assert _history(found) == set()


def _history(found):
    def there():
        for stage in found.plan.stages:
            newest = found.store.result(stage.id)
            yield stage.id, newest.name if newest else None

    return {(row["step"], row["qps"]) for row in job.history_rows(found.store, found.plan, dict(there()))}
