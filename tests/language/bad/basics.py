"""Wrong specs: basics."""

from tests.language.bad import BASE, SWEEP, Said

CASES: dict[str, Said] = {
    "unknown key": (
        BASE + "repeats: 3\n",
        [
            (
                "9:1",
                "unknown-key",
                "`repeats` is not a key here",
                "did you mean `repeat`?",
            ),
        ],
    ),
    "wrong type": (
        BASE + "seed: many\n",
        [
            (
                "9:7",
                "wrong-type",
                "`seed`: expected a whole number, found `many`",
                "",
            ),
        ],
    ),
    "wrong type list": (
        BASE.replace("[7.8.3, 9.10.0]", "7.8.3"),
        [
            (
                "3:40",
                "wrong-type",
                "`versions`: expected a list, found `7.8.3`",
                "",
            ),
        ],
    ),
    "undef set": (
        BASE + ("options: [levelled]\ndefine: {options: {leveled: {options: {a: 1}}}}\n"),
        [
            (
                "9:11",
                "undefined-name",
                "there is no option set `levelled`",
                "did you mean `leveled`?",
            ),
        ],
    ),
    "undef engine": (
        BASE.replace(": rocks", ": rock"),
        [
            (
                "3:21",
                "undefined-name",
                "there is no engine `rockdb`",
                "did you mean `rocksdb`?",
            ),
        ],
    ),
    "undef step": (
        BASE.replace(
            "steps:", ("workload: w\ndefine: {workloads: {w: [{name: a, kind: db_bench}]}}\nsteps:\n  - use: b")
        ),
        [
            (
                "7:10",
                "undefined-name",
                "the workload has no step `b`",
                "known here: a",
            ),
        ],
    ),
    "undef kind": (
        BASE.replace("q, kind: db_", "q, kind: db"),
        [
            (
                "5:27",
                "undefined-name",
                "there is no kind `dbbench`",
                "did you mean `db_bench`?",
            ),
        ],
    ),
    "undef workload": (
        BASE + "workload: x\n",
        [
            (
                "9:11",
                "undefined-name",
                "there is no workload `x`",
                "there is none here",
            ),
        ],
    ),
    "cycle values": (
        BASE + 'options: [{a: "{{ options.b }}", b: "{{ options.a }}"}]\n',
        [
            (
                "9:37",
                "value-cycle",
                "values go round: options.a → options.b → options.a",
                "",
            ),
        ],
    ),
    "cycle extends": (
        BASE + ("options: [x]\ndefine: {options: {x: {extends: y}, y: {extends: x}}}\n"),
        [
            (
                "10:50",
                "extends-cycle",
                "definitions go round: x → y → x",
                "",
            ),
        ],
    ),
    "empty grid": (
        BASE + SWEEP + "exclude: [\"cache == 'lru'\", \"cache == 'hyper'\"]\n",
        [
            (
                "9:1",
                "empty-grid",
                "the sweep has no cells",
                "`exclude` or the points' `when` leave nothing",
            ),
        ],
    ),
    "empty axis": (
        BASE + "sweep: {threads: []}\n",
        [
            (
                "9:9",
                "empty-axis",
                "axis `threads` has no points",
                "",
            ),
        ],
    ),
    "conflict": (
        BASE
        + (
            "sweep: {a: {option: bloom_bits, values: [1, 2]}, b: {points: {x: {options: {bloom_bits: 3}"
            "}, y: {options: {bloom_bits: 4}}}}}\n"
        ),
        [
            (
                "9:50",
                "axes-conflict",
                "the axes `a` and `b` both set the option `bloom_bits`",
                "one axis may set it",
            ),
        ],
    ),
    "syntax": (
        BASE + "report: {base: [}\n",
        [
            (
                "9:17",
                "yaml-syntax",
                "this is not YAML: a value is missing here, or a bracket before it is not closed",
                "",
            )
        ],
    ),
}
