"""Wrong specs: what fuzzing and reading found; and what is only warned of."""

from tests.language.bad import BASE, SWEEP, Said

SHOWN = "a" * 120 + "…"
KEYS = (
    "known here: allow, also, builds, claims, collectors, compare_within, define, exclude, hardware, include, launch, "
    "options, …"
)

CASES: dict[str, Said] = {
    "an also that adds what is there": (
        BASE + "also: [{}]\n",
        [("9:8", "also-twice", "the grid has this cell already", "")],
    ),
    "an also of nothing in a sweep": (
        BASE + SWEEP + "also: [{}, {}]\n",
        [("13:12", "also-twice", "the grid has this cell already", "")],
    ),
    "an exclude that matches nothing": (
        BASE + SWEEP + "exclude: [\"cache == 'clock'\"]\n",
        [("13:11", "warning exclude-nothing", "no cell matches this", "")],
    ),
    "a point that no version takes": (
        BASE
        + "sweep: {cache: {points: {lru: {options: {bloom_bits: 8}}, "
        + "best: {when: \"version >= '99'\", options: {bloom_bits: 9}}}}}\n",
        [
            (
                "9:72",
                "warning point-unused",
                "no cell has the point `best` of axis `cache`",
                "change its `when`, or remove the point; versions here: 7.8.3, 9.10.0",
            )
        ],
    ),
    "a point that no label takes": (
        BASE
        + "sweep: {cache: {points: {lru: {options: {bloom_bits: 8}}, "
        + "best: {when: \"build == 'x'\", options: {bloom_bits: 9}}}}}\n",
        [
            (
                "9:72",
                "warning point-unused",
                "no cell has the point `best` of axis `cache`",
                "change its `when`, or remove the point",
            )
        ],
    ),
    "a param that a step sets itself": (
        BASE.replace("keys: 1k", "keys: 1k, threads: 2")
        .replace("fresh: true}", "fresh: true, threads: 1}")
        .replace("[readwhilewriting]", "[readwhilewriting], threads: 2"),
        [
            (
                "8:20",
                "warning param-overridden",
                "the param `threads` reaches no step: `fillseq` sets its own (a.yaml:5), as in 1 other step",
                "a step's own setting wins: change it there",
            )
        ],
    ),
    "a lint that there is not": (
        BASE + "allow: {step-shrt: a try}\n",
        [("9:9", "warning allow-unknown", "there is no lint `step-shrt`", "did you mean `step-short`?")],
    ),
    "a lint that finds nothing": (
        BASE + "allow: {mixgraph-threads: a try}\n",
        [
            (
                "9:9",
                "warning allow-unused",
                "`allow` names `mixgraph-threads`, which finds nothing",
                "nothing here to silence: take it out",
            )
        ],
    ),
    "a key of a thousand letters": (
        BASE + f"{'a' * 1000}: 1\n",
        [
            (
                "9:1",
                "unknown-key",
                f"`{SHOWN}` is not a key here",
                KEYS,
            )
        ],
    ),
    "a value of a thousand letters": (
        BASE + f"seed: {'a' * 1000}\n",
        [
            (
                "9:7",
                "wrong-type",
                f"`seed`: expected a whole number, found `{SHOWN}`",
                "",
            )
        ],
    ),
    "scales that are no maps": (
        BASE + "scales: {smoke: 1, full: [a], none: }\n",
        [
            ("9:17", "wrong-type", "scale `smoke`: `smoke`: expected a map, found `1`", ""),
            ("9:26", "wrong-type", "scale `full`: `full`: expected a map, found a list", ""),
            (
                "9:31",
                "wrong-type",
                "scale `none`: `none`: expected a map, found nothing",
                "what belongs to it stands further right",
            ),
        ],
    ),
    "a scale that is not indented": (
        BASE + "scales:\n  smoke:\n  params: {keys: 1k}\n",
        [
            (
                "10:3",
                "wrong-type",
                "scale `smoke`: `smoke`: expected a map, found nothing",
                "what belongs to it stands further right",
            ),
            (
                "11:12",
                "unknown-key",
                "scale `params`: `keys` is not a key here",
                KEYS,
            ),
        ],
    ),
    "a setting with a slip in a live grid": (
        BASE.replace("[readwhilewriting]", "[readwhilewriting], thread: 2, for: {reads: [1, 2, 3], writes: [1, 2]}"),
        [("7:68", "unknown-setting", "`thread` is no setting of db_bench (step `readww`)", "did you mean `threads`?")],
    ),
    "a setting that is missing in a live grid": (
        BASE.replace("[readwhilewriting]", "[readwhilewriting], for: {reads: [1, 2, 3]}").replace("keys: 1k, ", ""),
        [
            ("5:12", "missing-setting", "step `fillseq` needs `keys`: give it to the step or in `params`", ""),
            ("7:12", "missing-setting", "step `readww` needs `keys`: give it to the step or in `params`", ""),
        ],
    ),
    "a name that a live grid has twice": (
        BASE.replace("[readwhilewriting]", "[readwhilewriting], for: {reads: [1, 1]}"),
        [("7:85", "point-twice", "the value `1` is given twice", "")],
    ),
    "a policy in a list": (
        BASE + "options: [a: [{when: \"version < '8'\", value: 1, when_unsupported: ignore}, {value: 2}]]\n",
        [
            (
                "9:67",
                "not-a-choice",
                "`when_unsupported`: expected `drop`, found `ignore`",
                "without it an option that the binary lacks is an error",
            )
        ],
    ),
    "a policy of a point": (
        BASE + "sweep: {c: {x: {options: {a: 1}, when_unsupported: error}, y: {}}}\n",
        [("9:52", "not-a-choice", "`when_unsupported`: expected `drop`, found `error`", "")],
    ),
    "a value below the top level": (
        BASE + "  seed: 3\n",
        [
            (
                "9:3",
                "yaml-syntax",
                "this is not YAML: this line fits no level above it",
                "a key begins where the other keys of its map do",
            )
        ],
    ),
    "a tab before a key": (
        BASE + "\tseed: 3\n",
        [("9:1", "yaml-syntax", "this is not YAML: a tab cannot stand here", "indent with spaces")],
    ),
    "more behind a quote": (
        BASE + 'hardware: "a" b\n',
        [
            (
                "9:15",
                "yaml-syntax",
                "this is not YAML: the value before this has ended",
                "quotes go around the whole of a text",
            )
        ],
    ),
    "an at sign": (
        BASE + "hardware: @home\n",
        [("9:11", "yaml-syntax", "this is not YAML: a value cannot begin with `@`", "put it in quotes")],
    ),
    "a claim without end": (
        BASE + SWEEP + f'claims: [{{claim: c, expect: "{"(" * 5000}1{")" * 5000}"}}]\n',
        [
            (
                "13:29",
                "expression",
                f"`{'(' * 120}…` is too long or too deep to be evaluated",
                "",
            )
        ],
    ),
    "a claim that is empty": (
        BASE + SWEEP + 'claims: [{claim: c, expect: ""}]\n',
        [("13:29", "expression", "there is no expression", "")],
    ),
    "a claim with one equals sign": (
        BASE + SWEEP + "claims: [{claim: c, expect: \"qps(cache='lru') = 2\"}]\n",
        [
            (
                "13:29",
                "expression",
                "`qps(cache='lru') = 2` is not an expression: `=` cannot follow",
                "equal is `==`",
            )
        ],
    ),
    "a claim that is not closed": (
        BASE + SWEEP + "claims: [{claim: c, expect: \"qps(cache='lru'\"}]\n",
        [("13:29", "expression", "`qps(cache='lru'` is not an expression: unexpected '}', expected ')'", "")],
    ),
    "expectations of figures, settings and options that there are not": (
        "title: t\n"
        "builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}\n"
        "steps:\n"
        "  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, keys: 1M, expects: found_pc > 99}\n"
        "  - {checkpoint: loaded, expects: [params.kys > 3, keys_written, rows >]}\n"
        "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], keys: 1M, options: {cache_size: 8MiB},\n"
        "     duration: 300s, expects: [database_bytes > 3 * options.cach_size, rows == 20M]}\n"
        "repeat: 3\n",
        [
            ("4:92", "undefined-name", "expects: there is no figure `found_pc`", "did you mean `found_pct`?"),
            (
                "5:36",
                "undefined-name",
                "expects: `params.kys` is not defined in step `fillseq`",
                "did you mean `keys`?",
            ),
            ("5:52", "expression", "`keys_written` is neither true nor false", "for example `found_pct > 99`"),
            ("5:66", "expression", "`rows >` is not an expression: it ends too early", ""),
            (
                "7:32",
                "undefined-name",
                "expects: `options.cach_size` is not defined in step `readww`",
                "did you mean `cache_size`?",
            ),
        ],
    ),
}
