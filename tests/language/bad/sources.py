"""Wrong specs: where builds come from, and their versions."""

from tests.language.bad import BASE, KINDS, Said

VERSIONS = "versions: [7.8.3, 9.10.0], "
SOURCE = "{system: db_bench}"

CASES: dict[str, Said] = {
    "no source at all": (
        BASE.replace(f", source: {SOURCE}", ""),
        [
            (
                "3:3",
                "no-source",
                "build `rocksdb` has no source",
                KINDS,
            )
        ],
    ),
    "a source without a key": (
        BASE.replace(SOURCE, "{}"),
        [
            (
                "3:3",
                "no-source",
                "build `rocksdb` has no source",
                KINDS,
            )
        ],
    ),
    "a source that is a word": (
        BASE.replace(SOURCE, "db_bench"),
        [("3:65", "wrong-type", "`source`: expected a map, found `db_bench`", "")],
    ),
    "a source of a kind with a slip and more": (
        BASE.replace(SOURCE, "{debain: rocksdb-tools, suite: trixie}"),
        [("3:66", "no-source", "`debain` is no kind of source", "did you mean `debian`?")],
    ),
    "a local tree that is no text": (
        BASE.replace(SOURCE, '{path: "{{ [] }}"}'),
        [("3:72", "wrong-type", "`path`: expected text, found an empty list", "")],
    ),
    "packages of no name": (
        BASE.replace(SOURCE, "{debian: [], suite: trixie}"),
        [("3:74", "wrong-type", "`debian`: expected a name or a list of names, found an empty list", "")],
    ),
    "packages one of which has no name": (
        BASE.replace(SOURCE, "{debian: [rocksdb-tools, ~], suite: trixie}"),
        [("3:74", "wrong-type", "`debian`: expected a name or a list of names, found `rocksdb-tools, nothing`", "")],
    ),
    "packages one of which is none": (
        BASE.replace(SOURCE, "{debian: [rocksdb-tools, 'a b'], suite: trixie}"),
        [("3:74", "wrong-source", "`debian: a b` is not a Debian package's name", "")],
    ),
    "packages in a map": (
        BASE.replace(SOURCE, "{debian: {a: b}, suite: trixie}"),
        [("3:74", "wrong-type", "`debian`: expected a name or a list of names, found a map", "")],
    ),
    "two suites": (
        BASE.replace(SOURCE, "{debian: rocksdb-tools, suite: [sid, trixie]}"),
        [
            (
                "3:102",
                "never-reached",
                "this value is never reached",
                "the value before it has no `when`, so it always holds; the first that holds wins",
            )
        ],
    ),
    "two programs": (
        BASE.replace(SOURCE, "{system: [db_bench, sst_dump]}"),
        [
            (
                "3:85",
                "never-reached",
                "this value is never reached",
                "the value before it has no `when`, so it always holds; the first that holds wins",
            )
        ],
    ),
    "packages behind conditions": (
        BASE.replace(SOURCE, "{debian: [{when: \"version < '8'\", value: [a1, b1]}], suite: trixie}"),
        [("3:74", "no-value", "build `rocksdb-9.10.0`: no value of `debian` holds for it", "")],
    ),
    "a ref by a version that there is not": (
        BASE.replace(VERSIONS, "").replace(SOURCE, '{git: "https://example.org/x.git", ref: "v{{ version }}"}'),
        [
            (
                "3:78",
                "undefined-name",
                "`version` is not defined",
                "the build has none: give it a `version:` or `versions:`",
            )
        ],
    ),
    "an artifact without a version": (
        BASE.replace(VERSIONS, "").replace(SOURCE, '{maven: "org.rocksdb:rocksdbjni"}'),
        [
            (
                "3:3",
                "missing-key",
                "build `rocksdb` has no version, and its maven source names none",
                "add `version:` or `versions:`",
            )
        ],
    ),
    "a crate without a version": (
        BASE.replace(VERSIONS, "").replace(SOURCE, "{crate: librocksdb-sys}"),
        [
            (
                "3:3",
                "missing-key",
                "build `rocksdb` has no version, and its crate source names none",
                "add `version:` or `versions:`",
            )
        ],
    ),
    "a condition by a version that there is not": (
        BASE.replace(VERSIONS, "") + "options: [{a: [{when: \"version >= '8'\", value: 1}]}]\n",
        [
            (
                "9:23",
                "undefined-name",
                "`version` is not defined",
                "the build has none: give it a `version:` or `versions:`",
            )
        ],
    ),
    "a capability by a version that there is not": (
        BASE.replace(VERSIONS, "").replace("[fillseq]", "[fillseq, {when: \"has('flush')\", value: flush}]"),
        [
            (
                "5:66",
                "expression",
                "`has('flush')` goes by the version of the build, which has none",
                "give the build a `version:` or `versions:`",
            )
        ],
    ),
    "an extends of two that go round": (
        BASE.replace("{engine: rocksdb, ", "{extends: b, engine: rocksdb, ") + "define: {builds: {b: {extends: b}}}\n",
        [("9:32", "extends-cycle", "definitions go round: b → b", "")],
    ),
}
