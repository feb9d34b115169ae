"""Wrong specs: names."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "steps that are empty": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps: []\n"
            "params: {keys: 1k, duration: 1s}\n"
            "sweep:\n"
            "  cache:\n"
            "    from: loaded\n"
            "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
            "clock_cache}}}\n"
        ),
        [
            (
                "4:1",
                "no-steps",
                "`steps` is empty",
                "without the key it is the whole workload",
            ),
        ],
    ),
    "a misspelt key that is empty": (
        "title: t\nbuilds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}\nstepz: []\n",
        [("3:1", "unknown-key", "`stepz` is not a key here", "did you mean `steps`?")],
    ),
    "a misspelt key without a value": (
        "titel:\nbuildz: {}\nsteps: [{name: fill, kind: db_bench, benchmarks: [fillseq], keys: 1}]\n",
        [
            ("1:1", "unknown-key", "`titel` is not a key here", "did you mean `title`?"),
            ("2:1", "unknown-key", "`buildz` is not a key here", "did you mean `builds`?"),
        ],
    ),
    "no workload": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps:\n"
            "  - fillseq\n"
            "params: {keys: 1k, duration: 1s}\n"
        ),
        [
            (
                "5:5",
                "undefined-name",
                "there is no workload to take the step `fillseq` from",
                "give `workload: NAME`",
            ),
        ],
    ),
    "a checkpoint before the load": (
        BASE.replace("steps:\n", "steps:\n  - {checkpoint: early}\n", 1),
        [
            (
                "5:18",
                "checkpoint-empty",
                "there is no step before checkpoint `early`: its database is empty, and no load is shared",
                "put it after the step that loads",
            ),
        ],
    ),
    "two checkpoints of a name": (
        BASE.replace(
            ("loaded\n  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting"),
            (
                "a\n"
                "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
                "  - checkpoint: a\n"
                "  - {name: again, kind: db_bench, benchmarks: [overwrite"
            ),
        ),
        [
            (
                "8:17",
                "defined-twice",
                "two checkpoints are named `a`",
                "first at a.yaml:6:17",
            ),
        ],
    ),
    "an axis named version": (
        BASE + "sweep: {version: {param: threads, values: [1, 2]}}\n",
        [
            (
                "9:9",
                "reserved-name",
                "`version` means something else in expressions: an axis needs another name",
                "",
            ),
        ],
    ),
    "an axis named options": (
        BASE + "sweep: {options: {param: threads, values: [1, 2]}}\n",
        [
            (
                "9:9",
                "reserved-name",
                "`options` means something else in expressions: an axis needs another name",
                "",
            ),
        ],
    ),
    "an axis named step": (
        BASE + "sweep: {step: {param: threads, values: [1, 2]}}\n",
        [
            (
                "9:9",
                "reserved-name",
                "`step` means something else in expressions: an axis needs another name",
                "",
            ),
        ],
    ),
    "an axis named hardware": (
        BASE + "sweep: {hardware: {param: threads, values: [1, 2]}}\n",
        [
            (
                "9:9",
                "reserved-name",
                "`hardware` means something else in expressions: an axis needs another name",
                "its points may still say `hardware: …`",
            ),
        ],
    ),
    "only abstract builds": (
        BASE.replace("b: {", "b: {abstract: true, "),
        [
            (
                "2:1",
                "no-builds",
                "no build is left to measure",
                "all of them are `abstract`",
            ),
        ],
    ),
    "a build that extends itself": (
        BASE.replace(
            "ngine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}",
            ("xtends: b}\n  b: {extends: rocksdb"),
        ),
        [
            (
                "4:16",
                "extends-cycle",
                "definitions go round: rocksdb → b → rocksdb",
                "",
            ),
        ],
    ),
    "a build that extends nothing": (
        BASE.replace("{e", "{extends: rocks, e"),
        [
            (
                "3:22",
                "undefined-name",
                "`rocks` is not defined",
                "did you mean `rocksdb`?",
            ),
        ],
    ),
    "a set of its own that nothing uses": (
        BASE + "define: {options: {mine: {options: {a: 1}}}}\n",
        [
            (
                "9:20",
                "unused-set",
                "nothing uses the option set `mine`",
                "",
            ),
        ],
    ),
    "a missing include and its set": (
        BASE + ("include: nothing.yaml\noptions: [leveled]\nworkload: w\n"),
        [("9:10", "file-not-found", "there is no file `nothing.yaml`", "")],
    ),
    "an include that is a folder": (
        BASE + "include: [.]\n",
        [
            (
                "9:11",
                "file-not-found",
                "`.` is a folder, not a spec",
                "",
            ),
        ],
    ),
    "too many cells": (
        BASE
        + (
            "sweep:\n"
            "  a0: {option: o0, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
            "  a1: {option: o1, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
            "  a2: {option: o2, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
            "  a3: {option: o3, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
            "  a4: {option: o4, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
            "  a5: {option: o5, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
        ),
        [
            (
                "9:1",
                "too-large",
                "the sweep is too large: 2 x 10 x 10 x 10 x 10 x 10 x 10 points",
                "at most 200,000 in all, before `exclude`",
            ),
        ],
    ),
    "too many steps": (
        BASE.replace("ue", "ue, times: 900, for: {a: [1, 2]}"),
        [
            (
                "5:12",
                "too-large",
                "step `fillseq` would be 1,800 steps: more than 1,000",
                "`for` has a step for each combination",
            ),
        ],
    ),
}
