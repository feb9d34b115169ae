"""What runs again after an edit of a spec, with a real engine."""

from __future__ import annotations

import shutil
from typing import Any

from tests.integration.conftest import SPEC


def test_what_runs_again_after_each_edit(lab: Any) -> None:
    first = lab.run()
    assert first.returncode == 0, first.stderr
    there = lab.results()
    assert lab.steps(set(there)) == ["fillseq"] * 2 + ["readrandom"] * 4
    assert "an experiment" in first.stdout

    def after(text: str) -> list[str]:
        """The steps that an edit measures; what was there stays as it is."""
        nonlocal there
        lab.write(text)
        run = lab.run()
        assert run.returncode == 0, run.stderr
        now = lab.results()
        assert there.items() <= now.items()
        new, there = set(now) - set(there), now
        return lab.steps(new)

    assert after(SPEC) == []
    assert after("# a comment\n" + SPEC.replace("an experiment", "a better title").replace("small:", "tiny:")
                 .replace("bits: small", "bits: tiny")) == []  # fmt: skip
    assert after(SPEC.replace("{name: readrandom, kind: db_bench,", "{kind: db_bench, name: reads,")) == []
    assert after(SPEC.replace("2000000", "3000000")) == ["readrandom"] * 2
    assert after(SPEC.replace("repeat: 2", "repeat: 3")) == ["fillseq", "readrandom", "readrandom"]
    variant = SPEC.replace("options: [", "  wide: {extends: rocksdb, options: {block_size: 64KiB}}\noptions: [", 1)
    assert after(variant) == ["fillseq"] * 2 + ["readrandom"] * 4
    assert len([*(lab.folder / "outputs" / "builds").iterdir()]) == 1, "the same source is the same binary"


def test_no_flag_measures_again(lab: Any) -> None:
    lab.write(SPEC.replace("repeat: 2", "repeat: 1"))
    assert lab.run().returncode == 0
    there = lab.results()
    for flags in ("-F", "-R run", "-R build", "--delete-all-output", "--forceall --rerun-triggers code"):
        assert lab.execute(lab.snake(*flags.split())).returncode == 0
        assert lab.results() == there, flags
    shutil.rmtree(lab.folder / ".snakemake")
    again = lab.run()
    assert again.returncode == 0, again.stderr
    assert lab.results() == there

    lost = sorted(there)[-1]
    shutil.rmtree(lab.folder / "outputs" / "results" / lost)
    assert lab.run().returncode == 0
    stages = [name.split("/")[0] for name in lab.results()]
    assert sorted(stages) == sorted(name.split("/")[0] for name in there)
    assert lost not in lab.results()
