"""Results: what is read, what is broken, checksums of files, all that was tried of a stage."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host.files import write_json
from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import StoredFile, plain
from stepgrid.model.status import Status
from stepgrid.store import attempts, results
from stepgrid.store.results import BrokenResult, Results, load_result, set_aside
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from tests.cases import rows
from tests.run import finished
from tests.summarize.synthetic import Experiment

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def result_folder(tmp_path):
    folder = tmp_path / "result"
    (folder / "steps" / "0-fill").mkdir(parents=True)
    (folder / "steps" / "0-fill" / "stdout").write_text("put: 1 ops\n")
    (folder / "attempt.json").write_text("{}")
    (folder / "result.json").write_text("{}")
    return folder


def test_every_file_but_the_record_has_its_size_and_checksum(result_folder):
    (result_folder / "steps" / "0-fill" / ".stdout.77").write_text("half made")
    (result_folder / "link").symlink_to("attempt.json")
    os.mkfifo(result_folder / "pipe")
    digest = hashlib.sha256(b"put: 1 ops\n").hexdigest()
    found = results.result_checksums(result_folder)
    assert [*found] == ["attempt.json", "steps/0-fill/stdout"]
    assert found["steps/0-fill/stdout"] == StoredFile(11, digest)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "`steps/0-fill/stdout` has 0 bytes, it was published with 11"),
        (b"put: 9 ops\n", "the checksum of `steps/0-fill/stdout` differs from the published one"),
        (None, "`steps/0-fill/stdout` is missing"),
    ],
)
def test_a_difference_is_named(result_folder, content, said):
    files, path = results.result_checksums(result_folder), result_folder / "steps" / "0-fill" / "stdout"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert results.checksum_difference(result_folder, files) == said


LOOK_AT_FILES = """
import json, sys
from pathlib import Path
from stepgrid.model.records import StoredFile
from stepgrid.store.results import checksum_difference, result_checksums
result, files = Path(sys.argv[1]), json.loads(sys.argv[2])
files = {name: StoredFile(**entry) for name, entry in files.items()}
print(checksum_difference(result, files), *result_checksums(result))
"""


# root without its right to read every file
POWERLESS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_a_lack_of_permission_says_nothing_of_a_file(result_folder):
    files = results.result_checksums(result_folder)
    (result_folder / "attempt.json").chmod(0)
    prefix = POWERLESS if os.geteuid() == 0 else []
    argv = [*prefix, sys.executable, "-c", LOOK_AT_FILES, str(result_folder), json.dumps(plain(files))]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    done = subprocess.run(argv, capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("None steps/0-fill/stdout\n", "")


BUILD, STAGE, LOAD = "rocksdb-7.8.3", "s-7.8.3-lru-1-0", "s-7.8.3-load-0"
QPS = {"readww": 1000.0, "overwrite": 2000.0}


@pytest.fixture
def experiment(tmp_path):
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    return found


@pytest.fixture
def stage(experiment):
    return next(stage for stage in experiment.plan.stages if stage.id == STAGE)


def state(experiment, node=STAGE):
    return StatusReader(experiment.store, experiment.plan).read().nodes[node]


def unsupported(experiment, node):
    attempt = experiment.store.new_attempt(node)
    write_json(attempt / "result.json", {"stage": node, "status": "unsupported", "reason": "no option x"})
    experiment.store.publish_result(node, attempt)


def fail(experiment, node, message, **more):
    return experiment.add_failure(node, message, **more) / "steps/0-readww/stderr"


@pytest.mark.parametrize(
    ("fill", "status", "reason"),
    [
        (lambda e: None, "missing", ""),
        (lambda e: unsupported(e, STAGE), "unsupported", "no option x"),
        (lambda e: unsupported(e, LOAD), "unsupported", "no option x"),
        (lambda e: fail(e, STAGE, "exited with 1"), "failed", "readww: exited with 1"),
        (lambda e: fail(e, STAGE, "SIGTERM", status="interrupted"), "interrupted", "readww: SIGTERM"),
        (lambda e: e.store.new_attempt(STAGE), "interrupted", attempts.KILLED),
        (lambda e: fail(e, LOAD, "no space left", step="fillseq"), "blocked", "fillseq: no space left"),
        (lambda e: fail(e, f"b-{BUILD}", "no such suite", step=None), "blocked", f"build {BUILD}: no such suite"),
    ],
)
def test_a_stage_without_a_result_says_why_and_where_the_log_is(tmp_path, fill, status, reason):
    experiment = Experiment(tmp_path, loads=1)
    log = fill(experiment)
    found = state(experiment)
    assert (found.status, found.reason, found.log) == (status, reason, log)


@pytest.mark.parametrize(("text", "message"), rows(__file__, "a_broken_result_is_named"))
def test_a_broken_result_is_named(experiment, stage, text, message):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").write_text(text)
    with pytest.raises(BrokenResult) as caught:
        load_result(result, stage)
    assert str(caught.value) == message
    found = state(experiment)
    assert found.status is Status.INTERRUPTED
    assert found.reason == f"the result {result} is broken: {message}; the next run measures it again"


def test_a_result_that_lost_its_record_is_not_one(experiment, stage):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").unlink()
    assert state(experiment).status is Status.MISSING
    with pytest.raises(BrokenResult, match=r"^result\.json is missing$"):
        load_result(result, stage)


def test_a_lost_step_folder_breaks_the_result_and_an_older_one_stands_in(experiment):
    older = experiment.add(BUILD, "lru", "1", 0, QPS)
    newer = experiment.add(BUILD, "lru", "1", 0, QPS)
    assert state(experiment).result.folder == newer
    shutil.rmtree(newer / "steps/1-overwrite")
    assert state(experiment).result.folder == older


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda r: (r / "result.json").write_text("{"), "result.json cannot be read ("),
        (lambda r: shutil.rmtree(r / "steps" / "1-overwrite"), "the folder of step 1 is missing under steps/"),
        (lambda r: shutil.rmtree(r / "steps"), "the folder of step 0 is missing under steps/"),
        (lambda r: (r / "result.json").write_text('{"status": "done", "stage": "s-2"}'), "result.json is of stage s-2"),
    ],
)
def test_damage_after_a_look_is_seen(experiment, stage, damage, why):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    damage(result)
    found = Results(experiment.store)
    assert found.of(stage) is None
    [broken] = found.broken(STAGE)
    assert (broken.node, broken.folder) == (STAGE, result)
    assert broken.why.startswith(why)


@pytest.mark.parametrize(
    "record",
    [
        *(None, 3, []),
        *({"seconds": value} for value in ("2", [2], True)),
        *({"warnings": value} for value in (None, "slow", [3])),
        *({"probes": value} for value in (["min_trx"], {"min_trx": None}, {"min_trx": "x"})),
        *({"counters": value} for value in (["reads"], {"min_trx": 3}, {"min_trx": {"reads": []}})),
    ],
)
def test_what_none_writes(experiment, stage, record):
    path = experiment.add(BUILD, "lru", "1", 0, QPS) / "result.json"
    content = json.loads(path.read_text())
    write_json(path, {**content, "steps": [record, *content["steps"][1:]]})
    with pytest.raises(BrokenResult, match=r"^result\.json cannot be read \("):
        load_result(path.parent, stage)


FILL = PlannedStep("fill", "db_bench", 1, {}, {}, 1)
FILLED = PlannedStage("s-1", "one", "b-1", None, (), 0, 0, "h", (FILL, FILL), 1.0, 0)
ONE_BUILD = PlannedBuild("b-1", "one", "rocksdb", "1", {"system": "x"})
ONE_PLAN = Plan("p", "t", "a.yaml", None, (), (), (ONE_BUILD,), (FILLED,), {"id": "h"}, PlannedReport())


@pytest.fixture
def filled_store(tmp_path):
    made = Store(tmp_path / "outputs")
    finished.result(made, FILLED)
    made.summary("p").mkdir(parents=True)
    return made


def test_the_mark_of_a_broken_result_goes(filled_store):
    (filled_store.result("s-1") / "result.json").write_text("{")
    remaining_work(ONE_PLAN, filled_store)
    assert not filled_store.mark("s-1").is_symlink()


def test_a_build_whose_record_cannot_be_read(filled_store):
    finished.make_build(filled_store, "b-1")
    assert StatusReader(filled_store, ONE_PLAN).read().nodes["b-1"].status is Status.DONE
    (filled_store.build("b-1") / "build.json").write_text("[]")
    status = StatusReader(filled_store, ONE_PLAN).read()
    assert status.nodes["b-1"].status is Status.INTERRUPTED
    [broken] = status.broken
    assert broken.why == "build.json cannot be read (Expected `object`, got `array`)"
    set_aside(filled_store, broken)
    assert not filled_store.has_build("b-1")
    assert len(filled_store.attempts("b-1")) == 1
