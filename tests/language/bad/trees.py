"""Wrong specs: a source within a source."""

from tests.language.bad import BASE, Said

SOURCE = "{system: db_bench}"
KINDS = "one of: git, tarball, crate, pypi, debian-source, path"
MESSAGE = "`tree` is a source of one kind, of those that bring a tree"


def _with(tree: str) -> str:
    return BASE.replace(SOURCE, f"{{maven: 'a:b:1', tree: {tree}}}")


CASES: dict[str, Said] = {
    "a tree that is a word": (_with("rocksdb"), [("3:88", "no-source", MESSAGE, KINDS)]),
    "a tree of programs": (_with("{system: x}"), [("3:88", "no-source", MESSAGE, KINDS)]),
    "a tree with several faults": (
        _with("{git: 'http://x.example/a', tag: v1}"),
        [
            ("3:88", "missing-key", "build `rocksdb`: a git source needs `ref`", ""),
            (
                "3:94",
                "wrong-source",
                "`git: http://x.example/a` is not a URL that begins with https:// or ssh:// or file://",
                "",
            ),
            ("3:116", "unknown-key", "a git source takes no `tag`", "it takes: git, ref, submodules"),
        ],
    ),
    "a tree where none goes": (
        BASE.replace(SOURCE, "{crate: a, version: 1, tree: {path: x}}"),
        [("3:88", "unknown-key", "a crate source takes no `tree`", "it takes: crate, version, sha256")],
    ),
    "a tree that leaves open which release it is": (
        BASE.replace(SOURCE, "{maven: 'a:b:1', tree: {crate: x}}").replace("versions: [7.8.3, 9.10.0], ", ""),
        [
            (
                "3:3",
                "missing-key",
                "build `rocksdb` has no version, and its crate source names none",
                "add `version:` or `versions:`",
            )
        ],
    ),
}
