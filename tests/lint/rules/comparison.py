# ruff: noqa: E501
"""Rules of stepgrid.lint.comparison."""

from tests.lint.rules import GRID, TWO, WHILE, spec

HOLED = (
    'sweep: {threads: [1, 2], bits: {option: bloom_bits, values: [8, 10]}}\nexclude: ["bits == 10 and threads == 1"]\n'
)
BUILDS = "title: t\nbuilds:\n  a: {engine: rocksdb, version: 9.9.3, source: {%s}}\n  b: {engine: rocksdb, version: 9.10.0, source: {%s}}\n"
CLIENTS = """\
title: t
builds: {m: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define:
  builds:
    one: {engine: sysbench, version: 1.0.20, source: {%s}}
    two: {engine: sysbench, version: 1.0.20, source: {%s}}
steps: [{name: s, kind: sysbench, lua: point_query, duration: 10m, rows: 1M}]
sweep: {threads: [1, 2], client: {param: client, values: [one, two]}}
report: {base: {%s}}
"""
SCRIPTS = """\
title: t
builds: {b: {engine: program, versions: [%s], source: {path: bench}, flags: {programs: %s}}}
steps: [{name: s, kind: command, duration: 10m, argv: ["{program:{{ version }}}"]}]
repeat: 2
"""
STRICT = "strict: same-quality\n"
GIT = 'git: "https://a.example/x.git", ref: v1'
CRATE = "crate: librocksdb-sys, version: 0.17.3+10.4.2"
MAVEN = 'maven: "org.rocksdb:rocksdbjni:9.10.0", tree: {crate: librocksdb-sys, version: 0.17.3+10.4.2}'

WRITES = """\
title: t
builds:
  r: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}
  p: {engine: program, source: {path: bench}, flags: {programs: p}}
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq, waitforcompaction], fresh: true, duration: null, threads: 1, when: "engine == 'rocksdb'"}
  - {name: w, kind: db_bench, benchmarks: [overwrite], mutates: true, options: {%s}, when: "engine == 'rocksdb'"}
  - {name: w, kind: command, argv: ["{program:p}"], mutates: true, when: "engine == 'program'"}
params: {keys: 1M, duration: 10m, durability: %s, threads: %s}
repeat: 2
"""

FIRES = {
    "mixed-durability": [
        (WRITES % ("sync: false", "sync", 1), "step `w` writes with unequal durability: `os` under r, `sync` under p"),
    ],
    "base-without-cell": [
        (spec(WHILE, rest=HOLED + "report: {base: {bits: 10, threads: 1}}\n"), "no cell is at the base, bits 10, threads 1: nothing can be compared with it"),
    ],
    "mixed-quality": [
        (STRICT + BUILDS % ("debian: rocksdb-tools, suite: bookworm", "debian: rocksdb-tools, suite: trixie") + TWO,
         "builds may get no verdict against each other: a: debian bookworm; b: debian trixie"),
        (STRICT + BUILDS % (GIT, MAVEN) + TWO, "builds may get no verdict against each other: a: compiled from source; b: official library"),
        (BUILDS % (GIT, "debian: rocksdb-tools, suite: trixie") + TWO,
         "builds may get no verdict against each other: a: without assertions; b: published programs"),
        (BUILDS % ("system: db_bench", GIT) + TWO, "builds may get no verdict against each other: a: a program of this machine; b: without assertions"),
        (BUILDS % (GIT, GIT + "}, flags: {march: native, assertions: true") + TWO,
         "builds may get no verdict against each other: a: without assertions; b: assertions true"),
        (BUILDS % (GIT, GIT + "}, flags: {cxxflags: -O0") + TWO, "builds may get no verdict against each other: a: without assertions; b: cxxflags -O0"),
        (CLIENTS % ("debian: sysbench, suite: bookworm", GIT, "client: one"),
         "clients may get no verdict against each other: one: published programs; two: without assertions"),
    ],
    "shared-programs": [
        (SCRIPTS % ("a.py, b.py", "[a.py, b.py]"), "`b-a.py` consists of b.py, too: an edit of it measures the cells of all versions again"),
    ],
    "defaults-differ": [
        (spec(WHILE, version="8.6.7, 8.7.3"), "`compaction_readahead_size` is left to the builds: 0 in b-8.6.7, 2 MiB in b-8.7.3"),
        (spec(WHILE, version="7.6.0, 7.7.8"), "`cache_numshardbits` is left to the builds: 6 in b-7.6.0, -1 in b-7.7.8"),
        (spec(WHILE, version="10.8.3, 10.9.1"), "`cache_type` is left to the builds: lru_cache in b-10.8.3, hyper_clock_cache in b-10.9.1"),
    ],
}  # fmt: skip

QUIET = {
    "mixed-durability": [
        WRITES % ("sync: true", "sync", 1),
        WRITES % ("sync: true", "group", 4),
        WRITES % ("disable_wal: true", "none", 1),
        WRITES.replace("mutates: true, ", "") % ("sync: false", "sync", 1),
        WRITES % ("sync: false", "sync", 1) + "sweep: {value: {option: value_size, values: [8, 10], steps: [w]}}\nreport: {base: {value: 8}}\n",
    ],
    "base-without-cell": [
        spec(WHILE, rest=GRID + "report: {base: {bits: 8}}\n"),
        spec(WHILE, rest=GRID),
    ],
    "mixed-quality": [
        BUILDS % ("system: one", "system: other") + TWO,
        BUILDS % (GIT, CRATE) + TWO,
        CLIENTS % ("debian: sysbench, suite: bookworm", GIT, "threads: 1"),
        STRICT + BUILDS % (GIT, GIT + "}, flags: {system: make, libraries: bookworm") + TWO,
        BUILDS % (GIT, GIT + "}, flags: {system: cmake, march: native") + TWO,
        BUILDS % (GIT, MAVEN) + TWO,
        BUILDS % ("debian: rocksdb-tools, suite: bookworm", "debian: rocksdb-tools, suite: trixie") + TWO,
        (STRICT + BUILDS % ("debian: rocksdb-tools, suite: bookworm", "debian: rocksdb-tools, suite: trixie") + TWO + GRID
         + "report: {base: {bits: 8}}\n"),
    ],
    "shared-programs": [
        SCRIPTS % ("a.py, b.py", '"{{ version }}"'),
        SCRIPTS % ("a.py, ba.py", '"{{ version }}"'),
        SCRIPTS.replace("path: bench", "system: sh") % ("a, b", "[x/a, x/b]"),
    ],
    "defaults-differ": [
        spec(WHILE, version="8.7.3, 9.10.0"),
        spec(WHILE, version="8.6.7, 8.7.3", options="compaction_readahead_size: 1MiB"),
        spec(WHILE, version="8.6.7, 8.7.3", rest=GRID + "report: {base: {bits: 8}}\n"),
    ],
}  # fmt: skip
