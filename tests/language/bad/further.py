"""Wrong specs: further."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "include": (
        BASE + "include: nothing.yaml\n",
        [("9:10", "file-not-found", "there is no file `nothing.yaml`", "")],
    ),
    "two names": (
        BASE.replace("readww", "fillseq"),
        [
            (
                "7:12",
                "defined-twice",
                "two steps of a cell are named `fillseq`",
                "give one of them `as: …`",
            ),
        ],
    ),
    "axisform": (
        BASE + "sweep: {a: {option: x, param: y, values: [1]}}\n",
        [
            (
                "9:9",
                "axis-form",
                "axis `a` must be of one form",
                "a map of points, `{option: NAME, values: […]}`, `{param: NAME, values: […]}` or a list of values",
            ),
        ],
    ),
    "source": (
        BASE.replace("sys", "sy"),
        [("3:66", "no-source", "`sytem` is no kind of source", "did you mean `system`?")],
    ),
    "scale": (
        BASE,
        [
            (
                "1:1",
                "undefined-scale",
                "there is no scale `big`",
                "there is none here",
            ),
        ],
    ),
    "hw": (
        BASE + "hardware: big\n",
        [
            (
                "9:11",
                "undefined-name",
                "there is no hardware `big`",
                "known here: here",
            ),
        ],
    ),
    "hw2": (
        BASE + "hardware: {core: 3, memory: 3GB}\n",
        [
            (
                "9:12",
                "unknown-key",
                "`core` is not a key here",
                "did you mean `cores`?",
            ),
            (
                "9:29",
                "wrong-unit",
                (
                    "memory: expected a size such as 4096, 8KiB, 16MiB or 1GiB, found `3GB`: sizes are KiB, MiB"
                    ", GiB only"
                ),
                "",
            ),
        ],
    ),
    "tabs": (
        BASE + ("report:\n\tbase: {}\n"),
        [("10:1", "yaml-syntax", "this is not YAML: a tab cannot stand here", "indent with spaces")],
    ),
    "merge": (
        BASE.replace("t\n", ("t\n<<: {a: 1}\n")),
        [
            (
                "2:1",
                "merge-key",
                "`<<` is not used in specs",
                "use `extends:`",
            ),
        ],
    ),
    "tag": (
        BASE + "seed: !x 3\n",
        [
            (
                "9:7",
                "yaml-tag",
                "the tag `!x` means nothing in a spec",
                "",
            ),
        ],
    ),
}
