# ruff: noqa: E501
"""Specs that each rule finds, with the exact message, and specs just beside them that it lets pass; by family."""

MACHINE = "hardware: {cores: 40, memory: 128GiB, storage: {max_sectors_kb: 1024}}\n"
DRAINED = "  - {name: load, kind: db_bench, benchmarks: [fillseq, waitforcompaction], fresh: true, duration: null, writes: null, write_rate: null, threads: 1}\n"
OLD = DRAINED.replace(", waitforcompaction", "")  # a release that cannot wait


def spec(*steps, options="", version="9.10.0", params="", rest="", load=DRAINED):
    builds = f"builds: {{b: {{engine: rocksdb, versions: [{version}], source: {{system: db_bench}}}}}}\n"
    listed = "".join(f"  - {step}\n" for step in steps)
    given = f"params: {{keys: 1M, duration: 10m{', ' if params else ''}{params}}}\n"
    said = f"options: [{{{options}}}]\n" if options else ""
    return f"title: t\n{builds}steps:\n{load}{listed}{given}{said}{rest}"


def step(benchmark, name="s", more=""):
    return f"{{name: {name}, kind: db_bench, benchmarks: [{benchmark}]{', ' if more else ''}{more}}}"


OVERWRITE = step("overwrite")
WHILE = step("readwhilewriting", more="write_rate: 2MiB")
GRID = "sweep: {bits: {option: bloom_bits, values: [8, 10]}}\n"
TWO = f"steps:\n{DRAINED}  - {WHILE}\nparams: {{keys: 1M, duration: 10m}}\n"
