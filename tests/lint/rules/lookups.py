# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.sequence_lints."""

from tests.lint.rules import DRAINED, OVERWRITE, WHILE, spec, step

SMALL = DRAINED.replace("fresh: true", "fresh: true, keys: 1k")
CAPPED = DRAINED.replace("writes: null", "writes: 1k")
BEYOND = "step `s` looks up 1,000,000 keys, of which the steps before it loaded 1,000: lookups of missing keys are another benchmark"
QUIESCE = "{name: q, kind: quiesce}"


def load(benchmark, more=""):
    return DRAINED.replace("fillseq", benchmark).replace("fresh: true", f"fresh: true{more}")


UNUSED = "step `again` begins with an empty database, so the checkpoint before it shares nothing"
AGAIN = [step("fillseq", "again", "fresh: true, duration: null"), "checkpoint: loaded", WHILE]

FIRES = {
    "checkpoint-unused": [
        (spec("checkpoint: early", *AGAIN), UNUSED),
        (spec("checkpoint: early", QUIESCE, *AGAIN), UNUSED),
    ],
    "empty-database": [
        (spec(WHILE, load=""), "step `s` needs a loaded database: it is the first step, and does not set `fresh: true`"),
        (spec(OVERWRITE, load=""), "step `s` needs a loaded database: it is the first step, and does not set `fresh: true`"),
        (spec(QUIESCE, step("mixgraph"), load=""), "step `s` needs a loaded database: it is the first step, and does not set `fresh: true`"),
    ],
    "keys-not-loaded": [
        (spec(WHILE, load=SMALL), BEYOND),
        (spec(WHILE, load=CAPPED), BEYOND),
        (spec("{checkpoint: c}", QUIESCE, step("multireadrandom"), load=SMALL), BEYOND),
        (spec(step("readrandom", more="fresh: true"), load=""), "step `s` looks up 1,000,000 keys, and the database holds none: lookups of missing keys are another benchmark"),
        (spec(step("overwrite", "o", "duration: null, keys: 2k"), WHILE, load=SMALL), BEYOND.replace("loaded 1,000:", "loaded 2,000:")),
    ],
}  # fmt: skip

QUIET = {
    "checkpoint-unused": [
        spec("checkpoint: loaded", WHILE),
        spec(*AGAIN),
        spec("checkpoint: loaded", WHILE, AGAIN[0]),  # what the checkpoint saves is read before
    ],
    "empty-database": [
        spec(WHILE),
        spec(step("fillseq", "l", "fresh: true"), WHILE, load=""),
        spec("{name: c, kind: command, argv: [make, '{data}']}", WHILE, load=""),
    ],
    "keys-not-loaded": [
        spec(WHILE),
        spec(step("readmissing"), load=SMALL),
        spec(step("overwrite", "o"), WHILE, load=SMALL),  # by the clock: nobody knows how many
        spec(WHILE, load=load("fillrandom", ", keys: 1k").replace("duration: null", "duration: 10s")),
        spec(WHILE, load=load("filluniquerandom")),
        spec(WHILE, load=SMALL, options="compaction_style: 2"),
        spec("{name: c, kind: command, argv: [make, '{data}']}", WHILE, load=SMALL),
        spec(step("seekrandom", more="keys: 100")),
    ],
}  # fmt: skip
