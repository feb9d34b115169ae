"""Wrong specs: more_yaml."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "maps without end": (
        "{a: " * 2000 + "\n",
        [("1:161", "too-deep", "maps and lists are nested more than 40 deep", "")],
    ),
    "a colon in a title": (
        BASE.replace("e: t", "e: a: b"),
        [
            (
                "1:9",
                "yaml-syntax",
                "this is not YAML: `: ` cannot stand here",
                "a text that holds it needs quotes; a key begins where the other keys of its map do",
            )
        ],
    ),
    "two documents": (
        BASE + ("---\ntitle: t\n"),
        [("9:1", "yaml-syntax", "this is not YAML: `---` begins another document", "a spec is one")],
    ),
    "an alias of nothing": (
        BASE + "repeat: *nope\n",
        [
            (
                "9:9",
                "yaml-syntax",
                "this is not YAML: no anchor has the name of this alias",
                "a text that begins with `*` needs quotes",
            )
        ],
    ),
    "a key that is a list": (
        BASE + "[a, b]: 1\n",
        [
            (
                "9:1",
                "wrong-type",
                "a key must be plain text",
                "",
            ),
        ],
    ),
    "an unquoted template": (
        BASE.replace("1k", "{{ 10 * 10 }}"),
        [
            (
                "8:16",
                "wrong-type",
                "`{{ … }}` without quotes is a map to YAML",
                'put the whole value in quotes: "{{ … }}"',
            ),
        ],
    ),
    "a comma in a number": (
        BASE.replace("1k", "20,000"),
        [
            (
                "8:19",
                "unknown-param",
                "no step takes the param `000`",
                "a number has no comma, which begins another entry: 20000, 20_000 or 20k",
            ),
        ],
    ),
    "a number as a key": (
        BASE + "1: 2\n",
        [
            (
                "9:1",
                "unknown-key",
                "`1` is not a key here",
                (
                    "known here: allow, also, builds, claims, collectors, compare_within, define, exclude, hardware, "
                    "include, launch, options, …"
                ),
            ),
        ],
    ),
    "an include with NUL": (
        BASE + 'include: ["a\\0b"]\n',
        [
            (
                "9:11",
                "control-character",
                "a value cannot hold NUL (U+0000)",
                "only line breaks and tabs, where a text may have them",
            ),
        ],
    ),
    "only a comment": (
        "# nothing\n",
        [
            (
                "1:1",
                "empty-file",
                "the file is empty",
                "a spec begins with `title:`",
            ),
        ],
    ),
}
