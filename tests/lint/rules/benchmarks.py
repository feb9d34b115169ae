# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import OLD, spec, step

FIRES = {
    "benchmark-lacking": [
        (spec(step("multiscan"), version="10.4.2"), "step `s` asks for multiscan: RocksDB 10.4.2 has none, it came with 10.5"),
        (spec(step("flush", more="measured: false"), version="6.11.4", load=""), "step `s` asks for flush: RocksDB 6.11.4 has none, it came with 6.19"),
    ],
}  # fmt: skip

QUIET = {
    "benchmark-lacking": [
        spec(step("multiscan"), version="10.5.1"),
        spec(step("readwhilewriting, {when: \"has('waitforcompaction')\", value: waitforcompaction}"), version="6.11.4", load=OLD),
    ],
}  # fmt: skip
