# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import WHILE, spec, step

FIRES = {
    "load-capped": [
        (spec(step("fillseq", more="fresh: true, writes: 999999"), load=""), "step `s` loads 999,999 of 1,000,000 keys: `writes` caps a load too"),
    ],
    "load-cut": [
        (spec(step("fillrandom", more="fresh: true"), load=""), "step `s` stops after 600 s, however many keys it has loaded by then"),
    ],
    "load-slowed": [
        (spec(step("fillseq", more="fresh: true, write_rate: 2MiB"), load=""), "step `s` is held to 2 MiB a second: a write rate is obeyed by a load too"),
    ],
    "load-multiplied": [
        (spec(step("fillseq", more="fresh: true, threads: 4"), load=""), "step `s` writes 4,000,000 rows: each of 4 threads loads all keys"),
    ],
    "keys-remainder": [
        (spec(step("overwrite", more='threads: 3, writes: "{{ params.keys // 3 }}"')), "step `s` writes 1 rows too few: 1,000,000 keys do not divide by 3"),
    ],
}  # fmt: skip

QUIET = {
    "load-capped": [spec(), spec(step("overwrite", more="writes: 10"))],
    "load-cut": [spec(step("fillseq", more="fresh: true"), load=""), spec(step("fillrandom"), load="")],
    "load-slowed": [spec(WHILE)],
    "load-multiplied": [spec(), spec(step("overwrite", more="threads: 4"))],
    "keys-remainder": [
        spec(step("overwrite", more='threads: 4, writes: "{{ params.keys // 4 }}"')),
        spec(step("overwrite", more='threads: 3, writes: "{{ params.keys // 3 // 10 }}"')),
    ],
}  # fmt: skip
