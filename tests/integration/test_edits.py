"""What runs again after an edit of a spec, with a real engine."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.integration.conftest import SPEC, Lab

ONCE = SPEC.replace("repeat: 2", "repeat: 1")


def missing_steps(lab: Lab, text: str) -> list[str]:
    """The steps that a run of this spec would measure."""
    lab.write(text)
    nodes = json.loads(lab.execute(lab.argv("status", "spec.yaml", "--format", "json")).stdout)["nodes"]
    stages = [node for node in nodes if node["kind"] == "stage" and node["state"] != "done"]
    return sorted(node["title"].rpartition(": ")[2] for node in stages)


def test_what_runs_again_after_each_edit(lab: Lab) -> None:
    lab.write(ONCE)
    first = lab.run()
    assert first.returncode == 0, first.stderr
    results = lab.results()
    assert lab.steps(set(results)) == ["fillseq", "readrandom", "readrandom"]
    assert "an experiment" in first.stdout

    assert missing_steps(lab, ONCE) == []
    renamed = ONCE.replace("an experiment", "a better title").replace("small:", "tiny:")
    assert missing_steps(lab, "# a comment\n" + renamed.replace("bits: small", "bits: tiny")) == []
    reordered = ONCE.replace("{name: readrandom, kind: db_bench,", "{kind: db_bench, name: reads,")
    assert missing_steps(lab, reordered) == []
    assert missing_steps(lab, SPEC) == ["fillseq", "readrandom", "readrandom"]
    variant = ONCE.replace("options: [", "  wide: {extends: rocksdb, options: {block_size: 64KiB}}\noptions: [", 1)
    assert missing_steps(lab, variant) == ["fillseq", "readrandom", "readrandom"]
    assert missing_steps(lab, ONCE.replace("2000000", "3000000")) == ["readrandom"]
    again = lab.run()
    assert again.returncode == 0, again.stderr
    assert results.items() < lab.results().items()
    assert lab.steps(set(lab.results()) - set(results)) == ["readrandom"]
    assert len([*(lab.folder / "outputs" / "builds").iterdir()]) == 1, "the same source is the same binary"


@pytest.mark.nightly  # tests/rules/test_resume.py tries them without an engine
def test_no_flag_measures_again(lab: Lab) -> None:
    lab.write(ONCE)
    assert lab.run().returncode == 0
    results = lab.results()
    for flags in ("-F", "-R run", "-R build", "--delete-all-output", "--forceall --rerun-triggers code"):
        assert lab.execute(lab.snake(*flags.split())).returncode == 0
        assert lab.results() == results, flags
    shutil.rmtree(lab.folder / ".snakemake")
    again = lab.run()
    assert again.returncode == 0, again.stderr
    assert lab.results() == results

    lost = sorted(results)[-1]
    shutil.rmtree(lab.folder / "outputs" / "results" / lost)
    assert lab.run().returncode == 0
    stages = [name.split("/")[0] for name in lab.results()]
    assert sorted(stages) == sorted(name.split("/")[0] for name in results)
    assert lost not in lab.results()
