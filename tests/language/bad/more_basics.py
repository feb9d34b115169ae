"""Wrong specs: more_basics."""

from tests.language.bad import BASE, SWEEP, Said

CASES: dict[str, Said] = {
    "dup": (
        BASE + "title: again\n",
        [
            (
                "9:1",
                "duplicate-key",
                "`title` is given twice",
                "first at line 1",
            ),
        ],
    ),
    "alike": (
        BASE + "sweep: {c: {points: {x: {options: {bloom_bits: 3}}, y: {options: {bloom_bits: 3}}}}}\n",
        [
            (
                "9:53",
                "points-alike",
                "`x` and `y` of axis `c` are the same in every cell",
                "something later sets it again (a step's options), or the steps that the axis changes do not use it",
            )
        ],
    ),
    "unit": (
        BASE.replace("1s", "1"),
        [
            (
                "8:30",
                "wrong-unit",
                "duration: expected a duration such as 30s, 30m or 2h, found `1`: say the unit",
                "",
            ),
        ],
    ),
    "param": (
        BASE.replace("eys", "ey"),
        [
            (
                "8:10",
                "unknown-param",
                "no step takes the param `key`",
                "did you mean `keys`?",
            ),
        ],
    ),
    "missing title": (
        BASE.replace("title: t\n", ""),
        [
            (
                "1:1",
                "missing-key",
                "`title` is missing",
                "",
            ),
        ],
    ),
    "axis from": (
        BASE
        + (
            "sweep:\n"
            "  cache:\n"
            "    from: load\n"
            "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
            "clock_cache}}}\n"
        ),
        [
            (
                "11:11",
                "undefined-name",
                "there is no checkpoint `load`",
                "did you mean `loaded`?",
            ),
        ],
    ),
    "setting": (
        BASE.replace("tru", "mayb"),
        [
            (
                "5:67",
                "wrong-setting",
                "step `fillseq`: `fresh`: expected true or false, found `maybe`",
                "",
            ),
        ],
    ),
    "setting2": (
        BASE.replace("fre", "fr"),
        [
            (
                "5:60",
                "unknown-setting",
                "`frsh` is no setting of db_bench (step `fillseq`)",
                "did you mean `fresh`?",
            ),
        ],
    ),
    "reserved": (
        BASE + "options: [{num: 3}]\n",
        [
            (
                "9:12",
                "reserved-option",
                "`num` cannot be set as an option",
                "it is the setting `keys` of the step",
            ),
        ],
    ),
    "reserved of a server": (
        "title: t\nbuilds: {m: {engine: mysql, version: 8.0.31, source: {system: mysqld}}}\n"
        "options: [{datadir: /var/lib/mysql}, {loose-Port: 1, default_storage_engine: innodb}]\n"
        "steps: [{name: one, kind: sql, sql: [select 1]}]\n",
        [
            ("3:12", "reserved-option", "`datadir` cannot be set as an option", "stepgrid sets it"),
            ("3:39", "reserved-option", "`loose-Port` cannot be set as an option", "stepgrid sets it"),
            (
                "3:54",
                "reserved-option",
                "`default_storage_engine` cannot be set as an option",
                "it is the setting `storage_engine` of the step",
            ),
        ],
    ),
    "undefined expr": (
        BASE + 'options: [{a: "{{ param.keys }}"}]\n',
        [
            (
                "9:15",
                "undefined-name",
                "`param` is not defined",
                "did you mean `params`?",
            ),
        ],
    ),
    "has": (
        BASE + "options: [{a: [{when: \"has('cachetype')\", value: 1}]}]\n",
        [("9:23", "expression", "rocksdb has no capability `cachetype`", "did you mean `cache_type`?")],
    ),
    "base": (
        BASE + SWEEP + "report: {base: {cach: lru}}\n",
        [("13:17", "undefined-name", "report.base: there is no axis `cach`", "did you mean `cache`?")],
    ),
    "also": (
        BASE + SWEEP + "also: [{cache: lruu}, {cache: lru, build: rocksdb-9.10.0}]\n",
        [
            ("13:16", "undefined-name", "axis `cache` has no point `lruu`", "did you mean `lru`?"),
            ("13:23", "also-twice", "the grid has this cell already", ""),
        ],
    ),
    "several": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksbd, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps:\n"
            "  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}\n"
            "  - checkpoint: loaded\n"
            "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
            "params: {keys: 1k, duration: 1s}\n"
            "seed: -1\n"
            "order: any\n"
        ),
        [
            (
                "3:21",
                "undefined-name",
                "there is no engine `rocksbd`",
                "did you mean `rocksdb`?",
            ),
            ("9:7", "out-of-range", "`seed`: expected at least 0, found `-1`", ""),
            ("10:8", "not-a-choice", "`order`: expected `randomized`, `interleaved` or `as_written`, found `any`", ""),
        ],
    ),
}
