"""What runs again after an edit of a spec, with a real engine."""

import json

from tests.integration.conftest import SPEC

ONCE = SPEC.replace("repeat: 2", "repeat: 1")


def missing_steps(lab, text):
    """The steps that a run of this spec would measure."""
    lab.write(text)
    nodes = json.loads(lab.execute(lab.argv("status", "spec.yaml", "--format", "json")).stdout)["nodes"]
    stages = [node for node in nodes if node["kind"] == "stage" and node["state"] != "done"]
    return sorted(node["title"].rpartition(": ")[2] for node in stages)


def test_what_runs_again_after_each_edit(lab):
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
