# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.sequence_lints and step_lints."""

from tests.lint.rules import DRAINED, OLD, WHILE, spec, step

SETTLE = "{name: settle, kind: quiesce, measured: false}"

FIRES = {
    "read-only-step": [
        (spec(step("multireadrandom")), "step `s` only reads: the shape that the tree happens to have decides the result"),
    ],
    "load-not-drained": [
        (spec(WHILE, load=DRAINED.replace(", waitforcompaction", "")), "step `s` begins while the load's compaction may still run: no step waits for it"),
    ],
}  # fmt: skip

QUIET = {
    "read-only-step": [spec(WHILE), spec(step("readrandom", more="measured: false"))],
    "load-not-drained": [
        spec(WHILE),
        spec(SETTLE, WHILE, load=OLD),
        spec(SETTLE, WHILE, load=OLD, version="6.11.4"),
        spec(WHILE, load=""),
        spec(step("flush", "drain", "measured: false"), WHILE, load=DRAINED.replace(", waitforcompaction", "")),
    ],
}  # fmt: skip
