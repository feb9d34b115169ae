"""What cannot be had, fails, hangs or does not fit: said clearly, and the rest goes on."""

import shutil
import signal

from tests.integration.conftest import SPEC, Lab, measuring
from tests.waiting import LONG, until

ONE = SPEC.replace("repeat: 2", "repeat: 1")


def with_build(text):
    return ONE.replace("options: [", f"  other: {text}\noptions: [", 1)


def test_a_build_that_cannot_be_had_and_a_step_that_fails(lab):
    text = with_build("{engine: rocksdb, source: {system: db_bench_of_nobody}}")
    lab.write(
        text.replace(
            "options: [", "  third: {extends: rocksdb, options: {secondary_cache_uri: of_nobody}}\noptions: [", 1
        )
    )
    run = lab.run()
    assert run.returncode == 3
    assert "db_bench_of_nobody" in run.stderr
    assert "No secondary cache registered" in run.stderr
    assert "/stderr\n" in run.stderr, "the log's path"
    assert "Traceback" not in run.stderr
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom", "readrandom"]
    assert "the same command tries them again" in run.stderr
    (summary,) = (lab.folder / "outputs" / "summary").glob("*/summary.txt")
    assert "INCOMPLETE: 6 of 9 measured steps have no figures yet" in summary.read_text()


def test_an_option_that_no_build_knows(lab):
    lab.write(ONE.replace("write_buffer_size: 1MiB", "write_bufer_size: 1MiB"))
    run = lab.run()
    assert run.returncode == 1
    assert "spec.yaml:4:12: error[unknown-option]: rocksdb has no option `write_bufer_size`" in run.stderr
    assert "did you mean `write_buffer_size`?" in run.stderr
    assert lab.results() == {}


def test_an_option_behind_a_checkpoint_costs_no_load_where_the_build_is_made_first(lab):
    bad = "{name: readrandom, kind: db_bench, benchmarks: [readrandom], options: {cache_siz: 1}}"
    lab.write(ONE.replace("{name: readrandom, kind: db_bench, benchmarks: [readrandom]}", bad))
    for build in (lab.folder / "outputs" / "builds").iterdir():
        shutil.rmtree(build)
    run = lab.run()
    assert run.returncode == 3
    assert "stages that start from it would fail: " in run.stderr
    assert "rocksdb has no option cache_siz; did you mean cache_size?" in run.stderr
    assert lab.results() == {}


def test_a_step_that_hangs(lab):
    lab.write(ONE)
    run = lab.start(lab.argv("run", "spec.yaml"), STEPGRID_GRACE="2")
    for process in until(lambda: measuring(lab)):
        process.send_signal(signal.SIGSTOP)
    assert run.wait(LONG) == 3
    assert "it did not end within 3 s, and was stopped" in lab.screen
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom"]
    assert lab.run().returncode == 0
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom", "readrandom"]


MISSPELT = """\
title: a load and three points, whose pattern is misspelt
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: load, kind: command, argv: [sh, -c, "echo loaded >> LOG; echo 5 rows > $0/db", "{data}"], metrics: {}}
  - {checkpoint: loaded}
  - name: read
    kind: command
    argv: [sh, -c, "cat $0/db; exit $1", "{data}", "{{ params.exit }}"]
    metrics: {rows: {pattern: '(\\d+) rowz', required: true}}
sweep: {exit: {param: exit, values: [0, 1, 3], from: loaded}}
params: {exit: 0}
allow: {no-repeats: a test}
"""


def test_a_misspelt_pattern_costs_no_load(tmp_path):
    lab = Lab(tmp_path)
    lab.write(MISSPELT.replace("LOG", str(tmp_path / "log")))
    for _ in range(2):
        run = lab.run()
        assert run.returncode == 3, run.stderr
        assert "read: metric `rows`: nothing in stdout or stderr matches (\\d+) rowz\n" in run.stderr
        assert "read: it ended with exit status 3\n" in run.stderr
    assert (tmp_path / "log").read_text() == "loaded\n"
