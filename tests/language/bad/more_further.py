"""Wrong specs: more_further."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "top": (
        "- a\n",
        [
            (
                "1:1",
                "wrong-type",
                "expected a map of settings at the top of the file",
                "",
            ),
        ],
    ),
    "empty": (
        "",
        [
            (
                "1:1",
                "empty-file",
                "the file is empty",
                "a spec begins with `title:`",
            ),
        ],
    ),
    "nosteps": (
        ("title: t\nbuilds:\n  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"),
        [
            (
                "1:1",
                "no-steps",
                "the spec has no steps",
                "give `workload:` or `steps:`, or both",
            ),
        ],
    ),
    "swpstep": (
        BASE
        + (
            "sweep:\n"
            "  cache:\n"
            "    steps: [readw]\n"
            "    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_"
            "clock_cache}}}\n"
        ),
        [
            (
                "11:13",
                "undefined-name",
                "there is no step `readw`",
                "did you mean `readww`?",
            ),
        ],
    ),
    "nullpoint": (
        BASE + "sweep: {c: {points: {x: , y: {options: {bloom_bits: 3}}}}}\n",
        [
            (
                "9:22",
                "wrong-type",
                "`x`: expected a map, found nothing",
                "",
            ),
        ],
    ),
    "wrongsize": (
        BASE + "options: [{bloom_bits: [1, 2, {a: 3}]}]\n",
        [
            (
                "9:28",
                "never-reached",
                "this value is never reached",
                "the value before it has no `when`, so it always holds; the first that holds wins",
            )
        ],
    ),
    "benchmarks": (
        BASE.replace("[fillseq", "["),
        [
            (
                "5:49",
                "wrong-setting",
                "step `fillseq`: `benchmarks`: at least one benchmark is needed, found an empty list",
                "",
            )
        ],
    ),
    "threads0": (
        BASE.replace("ue", "ue, threads: 0"),
        [
            (
                "5:82",
                "wrong-setting",
                "step `fillseq`: `threads`: expected at least 1, found `0`",
                "",
            ),
        ],
    ),
    "buildpoint": (
        BASE + "sweep: {c: {points: {x: {build: rocksdb-1}, y: {build: rocksdb-7.8.3}}}}\n",
        [
            (
                "9:33",
                "undefined-name",
                "there is no build `rocksdb-1`",
                "did you mean `rocksdb-9.10.0`?",
            ),
        ],
    ),
    "suite": (
        BASE.replace("system: db_bench", "debian: rocksdb-tools, suite: [{when: \"version < '8'\", value: bookworm}]"),
        [
            (
                "3:96",
                "no-value",
                "build `rocksdb-9.10.0`: no value of `suite` holds for it",
                "",
            ),
        ],
    ),
}
