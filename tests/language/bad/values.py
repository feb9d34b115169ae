"""Wrong specs: values."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "a count of a million digits": (
        BASE.replace("1k", "1e999"),
        [
            (
                "8:16",
                "wrong-unit",
                "keys: expected a count such as 1000, 200k, 100M or 2B, found `1e999`: too large (at most 2^63)",
                "",
            ),
        ],
    ),
    "a count too large": (
        BASE.replace("1k", "99999999999999999999999"),
        [
            (
                "8:16",
                "wrong-unit",
                (
                    "keys: expected a count such as 1000, 200k, 100M or 2B, found `99999999999999999999999`: to"
                    "o large (at most 2^63)"
                ),
                "",
            ),
        ],
    ),
    "a duration without end": (
        BASE.replace("n: 1", "n: 1e999"),
        [
            (
                "8:30",
                "wrong-unit",
                "duration: expected a duration such as 30s, 30m or 2h, found `1e999s`: too large (at most 1000d)",
                "",
            ),
        ],
    ),
    "keys in words": (
        BASE.replace("1k", "many"),
        [
            (
                "8:16",
                "wrong-unit",
                "keys: expected a count such as 1000, 200k, 100M or 2B, found `many`",
                "",
            ),
        ],
    ),
    "a fraction of a key": (
        BASE.replace("1k", "1.5"),
        [
            (
                "8:16",
                "wrong-unit",
                "keys: expected a count such as 1000, 200k, 100M or 2B, found `1.5`: not a whole number",
                "",
            ),
        ],
    ),
    "keys below zero": (
        BASE.replace("1k", "-5"),
        [
            (
                "8:16",
                "wrong-setting",
                "steps `fillseq` and `readww`: `keys`: expected at least 1, found `-5`",
                "",
            ),
        ],
    ),
    "keys in KiB": (
        BASE.replace("1k", "20KiB"),
        [
            (
                "8:16",
                "wrong-unit",
                "keys: expected a count such as 1000, 200k, 100M or 2B, found `20KiB`",
                "",
            ),
        ],
    ),
    "keys in a map": (
        BASE.replace("1k", "{a: 1}"),
        [
            (
                "8:16",
                "wrong-setting",
                "steps `fillseq` and `readww`: `keys`: expected a whole number, found a map",
                "",
            ),
        ],
    ),
    "a rate in MB": (
        BASE.replace("1s", "1s, write_rate: 2MB"),
        [
            (
                "8:46",
                "wrong-unit",
                (
                    "write_rate: expected a rate per second such as 2MiB or 1000000, found `2MB`: sizes are KiB"
                    ", MiB, GiB only"
                ),
                "",
            ),
        ],
    ),
    "a duration below zero": (
        BASE.replace("n: ", "n: -"),
        [
            (
                "8:30",
                "wrong-setting",
                "steps `fillseq` and `readww`: `duration`: expected at least 1.0, found `-1.0`",
                "",
            ),
        ],
    ),
    "a condition without a value": (
        BASE.replace("1s", '1s, threads: [{when: "true"}]'),
        [
            (
                "8:44",
                "missing-key",
                "this has a condition, but no value",
                "add `value: …`; a step, a set or a point may have a `when` of its own",
            ),
        ],
    ),
    "a condition beside the value's own keys": (
        BASE.replace("1s", '1s, threads: [{when: "true", pattern: x, required: true}]'),
        [
            (
                "8:44",
                "missing-key",
                "this has a condition, but no value",
                "put the rest under `value:`: `{when: …, value: {pattern: …}}`",
            ),
        ],
    ),
    "a benchmark with a slip": (
        BASE.replace("iti", "it"),
        [
            (
                "7:49",
                "wrong-setting",
                (
                    "step `readww`: `benchmarks`: db_bench has no benchmark of this name (nearest: `readwhilewr"
                    "iting`), found `readwhilewritng`"
                ),
                "",
            ),
        ],
    ),
    "a benchmark with arguments": (
        BASE.replace("readwhilewriting", '"overwrite --db=/tmp/x"'),
        [
            (
                "7:49",
                "wrong-setting",
                "step `readww`: `benchmarks`: expected a plain name, found `overwrite --db=/tmp/x`",
                "",
            ),
        ],
    ),
}
