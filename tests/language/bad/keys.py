"""Wrong specs: keys."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "a slip in a build": (
        BASE.replace("rs", "r"),
        [
            (
                "3:30",
                "unknown-key",
                "`verions` is not a key here",
                "did you mean `versions`?",
            ),
        ],
    ),
    "a slip in a build engine": (
        BASE.replace("ne", "n"),
        [
            (
                "3:13",
                "unknown-key",
                "`engin` is not a key here",
                "did you mean `engine`?",
            ),
        ],
    ),
    "a slip in a point": (
        BASE + "sweep: {c: {points: {x: {option: {a: 1}}, y: {options: {a: 2}}}}}\n",
        [
            (
                "9:26",
                "unknown-key",
                "`option` is not a key here",
                "did you mean `options`?",
            ),
        ],
    ),
    "a slip in the when of a point": (
        BASE + 'sweep: {c: {points: {x: {options: {a: 1}, whn: "true"}, y: {options: {a: 2}}}}}\n',
        [
            (
                "9:43",
                "unknown-key",
                "`whn` is not a key here",
                "did you mean `when`?",
            ),
        ],
    ),
    "an option beside the options of a set": (
        BASE + ("options: [x]\ndefine: {options: {x: {block_size: 1}}}\n"),
        [
            (
                "10:24",
                "unknown-key",
                "`block_size` is not a key here",
                "known here: engine, extends, options, when, when_unsupported",
            ),
        ],
    ),
    "a slip in a set": (
        BASE + ("options: [x]\ndefine: {options: {x: {engin: rocksdb, options: {a: 1}}}}\n"),
        [
            (
                "10:24",
                "unknown-key",
                "`engin` is not a key here",
                "did you mean `engine`?",
            ),
        ],
    ),
    "a slip in a checkpoint": (
        BASE.replace(
            (
                "ckpoint: loaded\n"
                "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
                "params: {keys: 1k, duration: 1s"
            ),
            (
                "kpoint: loaded\n"
                "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
                "params: {keys: 1k, duration: 1s}\n"
                "sweep:\n"
                "  cache:\n"
                "    from: loaded\n"
                "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
                "clock_cache}}"
            ),
        ),
        [
            (
                "6:5",
                "unknown-key",
                "`chekpoint` is not a key here",
                "did you mean `checkpoint`?",
            ),
        ],
    ),
    "a checkpoint without a name": (
        BASE.replace(
            (
                " loaded\n"
                "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
                "params: {keys: 1k, duration: 1s"
            ),
            (
                "\n"
                "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
                "params: {keys: 1k, duration: 1s}\n"
                "sweep:\n"
                "  cache:\n"
                "    from: loaded\n"
                "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
                "clock_cache}}"
            ),
        ),
        [
            (
                "6:5",
                "wrong-type",
                "`checkpoint`: expected a value, found nothing",
                "",
            ),
        ],
    ),
    "a checkpoint with a setting": (
        BASE.replace("checkpoint: loaded", "{checkpoint: loaded, threads: 3}"),
        [
            (
                "6:26",
                "unknown-key",
                "a checkpoint takes no `threads`",
                "it is a place between steps",
            ),
        ],
    ),
    "a slip in define": (
        BASE + "define: {option: {}}\n",
        [
            (
                "9:10",
                "unknown-key",
                "`option` is not a key here",
                "did you mean `options`?",
            ),
        ],
    ),
    "a slip in repeat": (
        BASE + "repeat: {load: 3}\n",
        [
            (
                "9:10",
                "unknown-key",
                "`load` is not a key here",
                "did you mean `loads`?",
            ),
        ],
    ),
    "a slip in report": (
        BASE + "report: {bas: {build: rocksdb-7.8.3}}\n",
        [
            (
                "9:10",
                "unknown-key",
                "`bas` is not a key here",
                "did you mean `base`?",
            ),
        ],
    ),
    "a slip in a value": (
        BASE + "options: [a: {value: 5, when_unsuported: drop}]\n",
        [
            (
                "9:25",
                "unknown-key",
                "`when_unsuported` is not a key of a value",
                "a value is plain, or `{when: …, value: …}`",
            ),
        ],
    ),
    "versions and version": (
        BASE.replace("s: [7.8.3, ", ": 7.8.3, versions: ["),
        [
            (
                "3:12",
                "not-both",
                "`rocksdb`: it has both `version` and `versions`: keep one",
                "",
            ),
        ],
    ),
    "use and name": (
        BASE.replace("name: readww", "use: readww, name: x"),
        [
            (
                "7:11",
                "step-form",
                "a step has one of `use`, `name` and `checkpoint`",
                "not both: `use` and `name`",
            ),
        ],
    ),
    "another case": (
        BASE.replace("tit", "Tit"),
        [("1:1", "unknown-key", "`Title` is not a key here", "did you mean `title`?")],
    ),
    "a key without a value": (
        BASE + "sweep:\n",
        [
            (
                "9:1",
                "wrong-type",
                "`sweep`: expected a map, found nothing",
                "",
            ),
        ],
    ),
    "steps without a value": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps:\n"
            "params: {keys: 1k, duration: 1s}\n"
        ),
        [
            (
                "4:1",
                "wrong-type",
                "`steps`: expected a value, found nothing",
                "",
            ),
        ],
    ),
    "a scale with a slip": (
        BASE + "scales: {smoke: {parms: {keys: 1}}}\n",
        [("9:18", "unknown-key", "scale `smoke`: `parms` is not a key here", "did you mean `params`?")],
    ),
}
