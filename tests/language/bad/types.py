"""Wrong specs: types."""

from tests.language.bad import BASE, SWEEP, Said

CASES: dict[str, Said] = {
    "a word as a repeat": (
        BASE + "repeat: three\n",
        [
            (
                "9:9",
                "wrong-type",
                "`repeat`: expected a whole number, found `three`",
                "",
            ),
        ],
    ),
    "no repeat at all": (
        BASE + "repeat: 0\n",
        [
            (
                "9:9",
                "out-of-range",
                "`repeat`: expected at least 1, found `0`",
                "",
            ),
        ],
    ),
    "repeats without end": (
        BASE + "repeat: 1000000000\n",
        [
            (
                "9:9",
                "out-of-range",
                "`repeat`: expected at most 1000, found `1000000000`",
                "",
            ),
        ],
    ),
    "a seed without end": (
        BASE + "seed: 99999999999999999999999\n",
        [
            (
                "9:7",
                "out-of-range",
                "`seed`: expected less than 9223372036854775808, found `99999999999999999999999`",
                "",
            ),
        ],
    ),
    "no versions": (
        BASE.replace("7.8.3, 9.10.0", ""),
        [
            (
                "3:40",
                "out-of-range",
                "`versions`: expected at least one entry, found an empty list",
                "",
            ),
        ],
    ),
    "a version with a space": (
        BASE.replace("7.8.3, 9.10.0", '"a b/c"'),
        [
            (
                "3:41",
                "out-of-range",
                "`versions`: a version is letters, digits and . + ~ : _ -, found `a b/c`",
                "",
            ),
        ],
    ),
    "an empty version": (
        BASE.replace("7.8.3, 9.10.0", "~, 7.8.3"),
        [
            (
                "3:41",
                "wrong-type",
                "`versions`: expected text, found nothing",
                "",
            ),
        ],
    ),
    "a version twice": (
        BASE.replace("9.10.0", "7.8.3"),
        [
            (
                "3:48",
                "defined-twice",
                "two builds are named `rocksdb-7.8.3`",
                "",
            ),
        ],
    ),
    "an item of nothing": (
        BASE.replace(("checkpoint: loaded\n  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}"), "~"),
        [
            (
                "6:5",
                "wrong-type",
                "`steps`: expected a map, found nothing",
                "",
            ),
        ],
    ),
    "an item that is a list": (
        BASE.replace(("checkpoint: loaded\n  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}"), "[a]"),
        [
            (
                "6:5",
                "wrong-type",
                "`steps`: expected a map, found a list",
                "",
            ),
        ],
    ),
    "an include of nothing": (
        BASE + "include: [~]\n",
        [
            (
                "9:11",
                "wrong-type",
                "`include`: expected text, found nothing",
                "",
            ),
        ],
    ),
    "an exclude that is a map": (
        BASE + SWEEP + "exclude: [{cache: lru}]\n",
        [
            (
                "13:11",
                "wrong-type",
                "`exclude`: expected text, found a map",
                "",
            ),
        ],
    ),
    "an also that is a word": (
        BASE + SWEEP + "also: [lru]\n",
        [
            (
                "13:8",
                "wrong-type",
                "`also`: expected a map, found `lru`",
                "",
            ),
        ],
    ),
    "a point that is a word": (
        BASE + "sweep: {c: {points: {x: lru, y: {options: {a: 1}}}}}\n",
        [
            (
                "9:25",
                "wrong-type",
                "`x`: expected a map, found `lru`",
                "",
            ),
        ],
    ),
}
