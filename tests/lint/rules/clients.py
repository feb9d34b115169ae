# ruff: noqa: E501
"""Rules of stepgrid.lint.spec_rules and stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import MACHINE, OVERWRITE, WHILE, spec, step

SMT = "hardware: {cores: 40, memory: 128GiB, smt: true}\n"

FIRES = {
    "clients-over-cores": [
        (spec(step("overwrite", more="threads: 41"), rest=MACHINE), "step `s` has 41 clients, the machine runs 40 threads at once"),
    ],
    "writer-unlimited": [
        (spec(step("seekrandomwhilemerging")), "step `s` has a background writer without a rate: how fast it happens to be decides the reads"),
    ],
    "range-without-nexts": [
        (spec(step("seekrandom", "Scan10")), "step `Scan10` seeks and reads nothing after it: seek_nexts is 0"),
    ],
}  # fmt: skip

QUIET = {
    "clients-over-cores": [
        spec(step("overwrite", more="threads: 40"), rest=MACHINE),
        spec(step("overwrite", more="threads: 80"), rest=SMT),
    ],
    "writer-unlimited": [spec(WHILE), spec(OVERWRITE)],
    "range-without-nexts": [
        spec(step("seekrandom", "range", "options: {seek_nexts: 10}")),
        spec(step("seekrandom", "seeks")),
    ],
}  # fmt: skip
