"""Wrong specs of those who write their first one: all faults in one pass, and what was meant."""

from tests.language.bad import BASE, Said

PROGRAM = """\
title: t
builds: {mine: {engine: program, version: 1, source: {system: python3}}}
"""
STEP = '{name: run, kind: command, argv: ["{program:python3}", "{{ params.size }}"]}'
KINDS = (
    "known here: command, crash, db_bench, insert_benchmark, linkbench, pgbench, quiesce, sql, sysbench, tpcc, "
    "vector_search; `pip install PACKAGE` adds one (docs/plugins.md)"
)

CASES: dict[str, Said] = {
    "a misspelt key of a short form hides nothing": (
        BASE.replace("duration: 1s", "duration: soon") + "repeet: 3\n",
        [
            (
                "8:30",
                "wrong-unit",
                "duration: expected a duration such as 30s, 30m or 2h, found `soon`",
                "",
            ),
            ("9:1", "unknown-key", "`repeet` is not a key here", "did you mean `repeat`?"),
        ],
    ),
    "a param that a step spells in another way": (
        f"{PROGRAM}params: {{sise: 100}}\nsteps: [{STEP}]\n",
        [("4:64", "undefined-name", "`params.size` is not defined", "did you mean `sise`?")],
    ),
    "a misspelt param that two steps take": (
        f"{PROGRAM}params: {{sise: 100}}\nsteps:\n  - {STEP}\n  - {STEP.replace('run', 'again')}\n",
        [("3:10", "unknown-param", "no step takes the param `sise`", "did you mean `size`?")],
    ),
    "a named point in a list of generated ones": (
        f"{PROGRAM}steps: [{STEP}]\nsweep:\n  a:\n"
        '    points: [{each: [1, 2], as: w, name: "w{{ w }}", params: {size: "{{ w }}"}},\n'
        "             {name: best, params: {size: 3}}]\n",
        [
            (
                "7:14",
                "missing-key",
                "`each` is missing",
                "a list of points is generated; named ones: `points: {NAME: {…}}`, with `each` beside it",
            ),
            ("7:14", "missing-key", "`as` is missing", ""),
        ],
    ),
    "a variable of generated points": (
        f"{PROGRAM}steps: [{STEP}]\nsweep:\n  a:\n"
        '    points: [{each: [{n: 8, l: 3}], as: p, name: "n{{ p.x }}", params: {size: "{{ p.y }}"}}]\n',
        [
            ("6:50", "undefined-name", "`p.x` is not defined", "known here: p.l, p.n"),
            ("6:79", "undefined-name", "`p.y` is not defined", "known here: p.l, p.n"),
        ],
    ),
    "a variable of generated points that has no parts": (
        f"{PROGRAM}steps: [{STEP}]\nsweep:\n  a:\n"
        '    points: [{each: [1, 2], as: w, name: "w{{ v }}", params: {size: "{{ w }}"}}]\n',
        [("6:42", "undefined-name", "`v` is not defined", "known here: w")],
    ),
    "the report's names beside a step's": (
        BASE.replace("kind: db_bench, benchmarks: [readww", "kind: db_bench, benchmraks: [readww").replace(
            "fresh: true", "frech: true"
        )
        + "sweep: {cache: {from: loaded, points: {lru: {options: {a: 1}}, hyper: {options: {a: 2}}}}}\n"
        + "report: {base: {cahce: lru}, tables: [{title: t, rows: step, columns: cache, where: {cache: lruu}}]}\n"
        + "claims: [{claim: c, expect: \"qps(cache='lruu') > 1\", where: {stepp: readww}}]\n",
        [
            ("5:60", "unknown-setting", "`frech` is no setting of db_bench (step `fillseq`)", "did you mean `fresh`?"),
            ("10:17", "undefined-name", "report.base: there is no axis `cahce`", "did you mean `cache`?"),
            (
                "10:93",
                "undefined-name",
                "where: axis `cache` has no cell at `lruu` (named 2 times, through line 11)",
                "did you mean `lru`?",
            ),
            ("11:62", "undefined-name", "where: there is no axis `stepp`", "did you mean `step`?"),
        ],
    ),
    "a misspelt kind hides nothing": (
        BASE.replace("kind: db_bench, benchmarks: [fillseq]", "kind: db_bensh, benchmarks: [fillseq], thread: 1")
        + "claims: [{claim: c, expect: qps() > 1, where: {step: fillsec}}]\n",
        [
            ("5:27", "undefined-name", "there is no kind `db_bensh`", "did you mean `db_bench`?"),
            (
                "5:60",
                "unknown-setting",
                "`thread` is no setting of db_bench (step `fillseq`)",
                "did you mean `threads`?",
            ),
            ("9:54", "undefined-name", "where: axis `step` has no cell at `fillsec`", "did you mean `fillseq`?"),
        ],
    ),
    "a label of generated points in a claim": (
        f"{PROGRAM}steps: [{STEP}]\nsweep:\n  a:\n"
        '    points: [{each: [1, 2], as: w, name: "w{{ w }}", params: {sizee: "{{ w }}"}}]\n'
        "claims: [{claim: c, expect: \"qps(a='w1') > 1\"}]\n",
        [("3:64", "undefined-name", "`params.size` is not defined", "did you mean `sizee`?")],
    ),
    "a kind that is a program": (
        f"{PROGRAM}steps: [{{name: run, kind: redis_benchmark, argv: [a]}}]\n",
        [
            (
                "3:27",
                "undefined-name",
                "there is no kind `redis_benchmark`",
                f"`kind: command` runs any program; {KINDS}",
            )
        ],
    ),
    "a key within a setting": (
        f"{PROGRAM}params: {{size: 1}}\nsteps: [{STEP[:-1]}, metrics: {{qps: {{patern: 'a ([0-9]+)'}}}}}}]\n",
        [("4:102", "unknown-key", "step `run`: `patern` is not a key here", "did you mean `pattern`?")],
    ),
    "a claim of a metric that there is not, beside a step that is wrong": (
        f"{PROGRAM}params: {{siz: 1}}\nsteps: [{STEP[:-1]}, metrics: {{tpm: {{pattern: 'a ([0-9]+)'}}}}}}]\n"
        'claims: [{claim: a, expect: "tpm() > 1"}, {claim: b, expect: "qqps() > 1"}]\n',
        [
            ("4:64", "undefined-name", "`params.size` is not defined", "did you mean `siz`?"),
            ("5:62", "undefined-name", "there is no metric `qqps`", "did you mean `qps`?"),
        ],
    ),
    "a metric may be one of a kind that there is not": (
        f"{PROGRAM}steps: [{{name: run, kind: redis, argv: [a]}}]\nclaims: [{{claim: a, expect: 'sets() > 1'}}]\n",
        [("3:27", "undefined-name", "there is no kind `redis`", f"`kind: command` runs any program; {KINDS}")],
    ),
    "a key of a source is misspelt, and not missing as well": (
        BASE.replace("{system: db_bench}", "{debian: rocksdb-tools, suit: trixie}"),
        [("3:89", "unknown-key", "a debian source takes no `suit`", "did you mean `suite`?")],
    ),
}
