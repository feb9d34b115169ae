"""Wrong specs: slips in grids, probes, claims, tables and versions; faults told twice, or at another place."""

from tests.language.bad import BASE, Said


def _step(more: str, benchmarks: str = "[readwhilewriting]") -> str:
    return BASE.replace("[readwhilewriting]}", f"{benchmarks}, {more}}}")


def _probes(*probes: str) -> str:
    return f"{BASE}probes: [{', '.join(probes)}]\n"


CASES: dict[str, Said] = {
    "a scale's build that is misspelt": (
        BASE + "scales: {smoke: {builds: {rocksbd: {versions: [9.10.0]}}}}\n",
        [("9:27", "missing-key", "scale `smoke`: build `rocksbd` has no engine", "did you mean `rocksdb`?")],
    ),
    "a scale's axis that is misspelt": (
        BASE + "sweep: {thread: {values: [1]}, threads: [1, 2]}\n",
        [("9:9", "axis-form", "axis `thread` must be of one form", "did you mean `threads`?")],
    ),
    "a live grid without values": (
        _step("for: {threads: []}") + "sweep: {a: {option: x, values: [1, 2], steps: [readww]}}\n",
        [("7:74", "empty-axis", "`for` has no values of `threads`", "")],
    ),
    "a live grid over a setting that is given": (
        _step("threads: 3, for: {threads: [1, 2]}"),
        [("7:68", "not-both", "`threads` is a variable of `for`, and given beside it", "keep one")],
    ),
    "a warm-up without a unit": (
        _step("warmup: 30"),
        [
            (
                "7:76",
                "wrong-unit",
                "warmup: expected a duration such as 30s, 30m or 2h, found `30`: say the unit",
                "",
            )
        ],
    ),
    "a warm-up of what has no duration": (
        "title: t\nbuilds: {maria: {engine: mariadb, version: 11.8, source: {system: mariadbd}}}\n"
        "steps: [{name: settle, kind: quiesce, warmup: 30s}]\n",
        [("3:39", "unknown-setting", "a step of kind quiesce has no `duration`, so no `warmup`", "")],
    ),
    "a probe at no step": (
        _probes("{name: p, command: [ls]}"),
        [("9:17", "probe-form", "probe `p` needs `before` or `after`, with the steps that it is timed at", "")],
    ),
    "a probe of two forms": (
        _probes("{name: p, before: [readww], sql: select 1, command: [ls]}"),
        [("9:17", "probe-form", "probe `p` needs `sql` or `command`, one of them", "")],
    ),
    "a probe whose command is a text": (
        _probes("{name: p, before: [readww], command: ls -l}"),
        [("9:47", "wrong-type", "`command`: expected a list, found `ls -l`", "")],
    ),
    "a probe in SQL where there is none": (
        _probes("{name: p, before: [readww], sql: select 1}"),
        [("9:17", "unused-probe", "no cell takes the probe `p`: rocksdb has no SQL", "`command` takes any program")],
    ),
    "two probes of one name at one step": (
        _probes("{name: p, before: [readww], command: [ls]}", "{name: p, after: [readww], command: [ls]}"),
        [("9:72", "defined-twice", "step `readww` has the probe `p` already", "each figure needs its name")],
    ),
    "a probe with the name of a metric": (
        _probes("{name: qps, before: [readww], command: [ls]}"),
        [("9:17", "reserved-name", "`qps` is a metric already: a probe needs another name", "")],
    ),
    "a claim that assigns": (
        BASE + "claims: [{claim: c, expect: \"qps(step='readww') = 1\"}]\n",
        [
            (
                "9:29",
                "expression",
                "`qps(step='readww') = 1` is not an expression: `=` cannot follow",
                "equal is `==`",
            )
        ],
    ),
    "a claim that compares nothing": (
        BASE + "claims: [{claim: c, expect: \"qps(step='readww')\"}]\n",
        [
            (
                "9:29",
                "expression",
                "a claim compares: < <= > >= == !=, similar(…, …) or stable(…, …)",
                "for example qps(cache='best') >= 2 * qps(cache='lru')",
            )
        ],
    ),
    "tables that show an axis twice": (
        BASE + "report: {tables: [{title: a, rows: step, columns: [build, step]}, {title: b, rows: [step, step]}]}\n",
        [
            ("9:59", "defined-twice", "`step` is in `rows` and in `columns`: a table shows an axis once", ""),
            ("9:91", "defined-twice", "`step` is in `rows`: a table shows an axis once", ""),
        ],
    ),
    "a window of three": (
        BASE + "report: {tables: [{title: a, rows: step, window: [1, 2, 3]}]}\n",
        [("9:50", "out-of-range", "`window`: expected at most 2 entries, found a list", "")],
    ),
    "three builds that go round, and one that leads there": (
        "title: t\nbuilds:\n  d: {extends: b}\n  a: {extends: b}\n  b: {extends: c}\n  c: {extends: a}\n"
        "steps: [{name: x, kind: quiesce}]\n",
        [("6:16", "extends-cycle", "definitions go round: a → b → c → a", "")],
    ),
    "two option sets that go round": (
        BASE + "options: [q, p]\ndefine: {options: {p: {extends: q}, q: {extends: p}}}\n",
        [("10:50", "extends-cycle", "definitions go round: p → q → p", "")],
    ),
    "a build of a name that no include has": (
        "title: t\nbuilds:\n  a: {extends: a, version: 1.0}\nsteps: [{name: x, kind: quiesce}]\n",
        [
            (
                "3:16",
                "undefined-name",
                "`a` is not defined",
                "its own name means an include's, and none defines `a`",
            )
        ],
    ),
    "benchmarks that there are not": (
        _step("reads: 1", "[readrandom, readrandm, fillsec]"),
        [
            (
                f"7:{column}",
                "wrong-setting",
                (
                    "step `readww`: `benchmarks`: db_bench has no benchmark of this name "
                    f"(nearest: `{meant}`), found `{said}`"
                ),
                "",
            )
            for column, meant, said in ((61, "readrandom", "readrandm"), (72, "fillseq", "fillsec"))
        ],
    ),
    "a map among benchmarks": (
        _step("reads: 1", "[readrandom, {a: 1}]"),
        [("7:61", "wrong-setting", "step `readww`: `benchmarks`: expected text, found a map", "")],
    ),
    "a tag of a language": (
        BASE + "seed: !!python/object:os.system 1\n",
        [("9:7", "yaml-tag", "the tag `!!python/object:os.system` means nothing in a spec", "")],
    ),
    "an exclude in braces": (
        BASE + "exclude: [\"{{ build == 'x' }}\"]\n",
        [
            (
                "9:11",
                "expression",
                "`{{ build == 'x' }}` is not an expression: `}` stands where `:` is expected",
                "an expression stands here without `{{ }}`",
            )
        ],
    ),
    "a version before a number": (
        BASE + "options: [{x: [{when: version >= 8.10, value: 1}]}]\n",
        [
            (
                "9:23",
                "expression",
                "`version >= 8.10` has no value: a version is compared with a text, in quotes",
                "",
            ),
        ],
    ),
    "a version that equals a number": (
        BASE + "exclude: [version == 8.10]\n",
        [
            (
                "9:11",
                "expression",
                "`version == 8.10` has no value: a version is compared with a text, in quotes",
                "",
            ),
        ],
    ),
    "values that are a map": (
        BASE + "sweep: {a: {option: block_size, values: {x: 1}}}\n",
        [("9:41", "wrong-type", "`values`: expected a list, found a map", "")],
    ),
    "no builds in the sweep": (
        BASE + "sweep: {build: []}\n",
        [("9:9", "empty-axis", "axis `build` has no points", "")],
    ),
    "points that name builds beside the build axis": (
        BASE + "sweep: {build: [rocksdb], a: {x: {build: rocksdb-9.10.0}, y: {build: rocksdb-7.8.3}}}\n",
        [("9:27", "axes-conflict", "the axes `build` and `a` both choose the build", "one axis may set it")],
    ),
    "two axes whose points name builds": (
        BASE + "sweep: {a: {x: {build: rocksdb}}, b: {y: {build: rocksdb-7.8.3}}}\n",
        [("9:35", "axes-conflict", "the axes `a` and `b` both choose the build", "one axis may set it")],
    ),
    "a machine that does not say it": (
        BASE + 'hardware: {cores: 4}\noptions: [{a: "{{ hardware.storage.max_sectors_kb }}"}]\n',
        [("10:15", "undefined-name", "`hardware.storage` is not defined", "known here: cores")],
    ),
    "option sets of an engine that there is not": (
        BASE + "options: [foo, {engine: [mysql, rockdb], options: {b: 1}}]\n"
        "define: {options: {foo: {engine: rockdb, options: {a: 1}}}}\n",
        [
            ("9:33", "undefined-name", "there is no engine `rockdb`", "did you mean `rocksdb`?"),
            ("10:34", "undefined-name", "there is no engine `rockdb`", "did you mean `rocksdb`?"),
        ],
    ),
}
