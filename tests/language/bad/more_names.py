"""Wrong specs: more_names."""

from tests.language.bad import BASE, KINDS, SWEEP, Said

CASES: dict[str, Said] = {
    "all points fail": (
        BASE + 'sweep: {c: {points: {x: {options: {a: 1}, when: "false"}}}}\n',
        [
            (
                "9:1",
                "empty-grid",
                "the sweep has no cells",
                "`exclude` or the points' `when` leave nothing",
            ),
        ],
    ),
    "a source of two kinds": (
        BASE.replace("m: db_bench", "m: db_bench, debian: x"),
        [
            (
                "3:3",
                "no-source",
                "build `rocksdb`: a source is of one kind, not of system and debian",
                KINDS,
            )
        ],
    ),
    "debian without a suite": (
        BASE.replace("system: db_bench", "debian: rocksdb-tools"),
        [
            (
                "3:3",
                "missing-key",
                "build `rocksdb`: a debian source needs `suite`",
                "",
            ),
        ],
    ),
    "a base of a family": (
        BASE + SWEEP + "report: {base: {build: rocksdb}}\n",
        [
            (
                "13:24",
                "undefined-name",
                "report.base: axis `build` has no cell at `rocksdb`",
                "did you mean `rocksdb-7.8.3`?",
            )
        ],
    ),
    "an unknown build in the sweep": (
        BASE + "sweep: {build: [rocksd]}\n",
        [
            (
                "9:17",
                "undefined-name",
                "there is no build `rocksd`",
                "did you mean `rocksdb`?",
            ),
        ],
    ),
    "a metric that nobody knows": (
        BASE + SWEEP + "claims: [{claim: c, expect: \"qqs(cache='lru') > 1\"}]\n",
        [("13:29", "undefined-name", "there is no metric `qqs`", "did you mean `qps`?")],
    ),
    "a probe of no form": (
        BASE + "probes: [{name: p, after: [readww]}]\n",
        [
            (
                "9:17",
                "probe-form",
                "probe `p` needs `sql` or `command`, one of them",
                "",
            ),
        ],
    ),
    "an axis with both scopes": (
        BASE + "sweep: {threads: {param: threads, values: [1, 2], from: loaded, steps: [readww]}}\n",
        [
            (
                "9:9",
                "axis-form",
                "axis `threads` has both `from` and `steps`",
                "keep one",
            ),
        ],
    ),
    "a value twice": (
        BASE + "sweep: {threads: [1, 1]}\n",
        [
            (
                "9:22",
                "point-twice",
                "the value `1` is given twice",
                "",
            ),
        ],
    ),
    "a db_bench step on postgres": (
        BASE.replace(": rocksdb", ": postgres"),
        [
            (
                "5:12",
                "wrong-kind",
                "step `fillseq` is of kind db_bench, which does not run on postgres",
                "on it: pgbench, sysbench, insert_benchmark, linkbench, tpcc, sql, quiesce, crash, command, "
                "vector_search",
            ),
            (
                "7:12",
                "wrong-kind",
                "step `readww` is of kind db_bench, which does not run on postgres",
                "on it: pgbench, sysbench, insert_benchmark, linkbench, tpcc, sql, quiesce, crash, command, "
                "vector_search",
            ),
        ],
    ),
    "no conditions of a suite hold": (
        BASE.replace("system: db_bench", 'debian: rocksdb-tools, suite: [{when: "false", value: sid}]'),
        [
            (
                "3:96",
                "no-value",
                "build `rocksdb-7.8.3`: no value of `suite` holds for it",
                "",
            ),
            (
                "3:96",
                "no-value",
                "build `rocksdb-9.10.0`: no value of `suite` holds for it",
                "",
            ),
        ],
    ),
    "a source that cannot be": (
        BASE.replace("system: db_bench", 'git: "notaurl", ref: "x"'),
        [
            (
                "3:71",
                "wrong-source",
                "`git: notaurl` is not a URL that begins with https:// or ssh:// or file://",
                "",
            ),
        ],
    ),
    "a slip in a scope of steps": (
        BASE
        + (
            "sweep:\n"
            "  cache:\n"
            "    steps: [readwww]\n"
            "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
            "clock_cache}}}\n"
        ),
        [
            (
                "11:13",
                "undefined-name",
                "there is no step `readwww`",
                "did you mean `readww`?",
            ),
        ],
    ),
    "a set for another engine": (
        BASE + ("options: [x]\ndefine: {options: {x: {engine: mysql, options: {a: 1}}}}\n"),
        [
            (
                "9:11",
                "unused-set",
                "no cell takes the option set `x`: it is for mysql",
                "",
            ),
        ],
    ),
}
