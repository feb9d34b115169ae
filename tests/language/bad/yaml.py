"""Wrong specs: yaml."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "a quote that is not closed": (
        BASE.replace("le: ", 'le: "'),
        [
            (
                "1:8",
                "yaml-syntax",
                "this is not YAML: this quote is not closed",
                "",
            ),
        ],
    ),
    "a bracket that is not closed": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps:\n"
            "  - [a\n"
            "sweep:\n"
            "  x: 1\n"
        ),
        [
            (
                "5:5",
                "yaml-syntax",
                "this is not YAML: this `[` is not closed",
                "what comes at line 6 cannot stand in it",
            ),
        ],
    ),
    "a no-break space behind a colon": (
        BASE + ("repeat:\xa03\norder: randomized\n"),
        [
            (
                "9:1",
                "yaml-syntax",
                "this is not YAML: a key needs `: ` behind it",
                "the line holds a no-break space: put a plain one",
            ),
        ],
    ),
    "a line separator in a title": (
        (
            'title: "a\u2028'
            'b"\n'
            "builds:\n"
            "  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "steps:\n"
            "  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}\n"
            "  - checkpoint: loaded\n"
            "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
            "params: {keys: 1k, duration: 1s}\n"
            "repeat: x\n"
        ),
        [
            (
                "1:10",
                "control-character",
                "the file holds a line separator (U+2028)",
                "in double quotes YAML has escapes for the few places that need one",
            ),
            (
                "9:9",
                "wrong-type",
                "`repeat`: expected a whole number, found `x`",
                "",
            ),
        ],
    ),
    "ESC in a title": (
        BASE.replace("e: t", 'e: "a\\e[31mb"'),
        [
            (
                "1:8",
                "control-character",
                "a value cannot hold ESC (U+001B)",
                "only line breaks and tabs, where a text may have them",
            ),
        ],
    ),
    "NUL in an option": (
        BASE + 'options: [cache_type: "a\\0b"]\n',
        [
            (
                "9:23",
                "control-character",
                "a value cannot hold NUL (U+0000)",
                "only line breaks and tabs, where a text may have them",
            ),
        ],
    ),
    "a line break in a label": (
        BASE + 'sweep: {c: {points: {"a\\nb": {options: {x: 1}}, b: {options: {x: 2}}}}}\n',
        [
            (
                "9:22",
                "control-character",
                "a name cannot hold a line break (U+000A)",
                "",
            ),
        ],
    ),
    "an empty label": (
        BASE + 'sweep: {c: {points: {"": {options: {x: 1}}, b: {options: {x: 2}}}}}\n',
        [
            (
                "9:22",
                "wrong-type",
                "a name cannot be empty",
                "",
            ),
        ],
    ),
    "a title of two lines": (
        BASE.replace("e: t", ("e: |\n  a\n  b")),
        [
            (
                "1:8",
                "control-character",
                "`title`: a name is one line",
                "",
            ),
        ],
    ),
    "lists too deep": (
        BASE
        + (
            "options: [a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
            "]]]]]]]]]]]]]]]\n"
        ),
        [
            (
                "9:51",
                "too-deep",
                "maps and lists are nested more than 40 deep",
                "",
            ),
        ],
    ),
    "a list without end": (
        f"title: {'[' * 2000}\n",
        [("1:47", "too-deep", "maps and lists are nested more than 40 deep", "")],
    ),
}
