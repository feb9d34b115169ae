# ruff: noqa: E501
"""Rules of stepgrid.lint.refs."""

from tests.lint.rules import TWO

SOURCE = "title: t\nbuilds: {b: {engine: rocksdb, version: 9.9.3, source: {%s}}}\n" + TWO

FIRES = {
    "ref-open": [
        (SOURCE % "git: 'https://example.org/r.git', ref: 9.9.fb", "`9.9.fb` names no release, so it may be a branch, and nothing says its commit"),
        (SOURCE % "git: 'https://example.org/r.git', ref: main~2", "`main~2` names no release, so it may be a branch, and nothing says its commit"),
        (SOURCE % "maven: 'org.rocksdb:rocksdbjni', tree: {git: 'https://example.org/r.git', ref: '10.11'}", "`10.11` names no release, so it may be a branch, and nothing says its commit"),
    ],
}  # fmt: skip

QUIET = {
    "ref-open": [
        *(SOURCE % f"git: 'https://example.org/r.git', ref: '{ref}'" for ref in ("v9.9.3", "speedb/v2.8.0", "REL_15_1", "REL_19_BETA1", "d347cdb^", "refs/tags/x")),
        SOURCE % f"git: 'https://example.org/r.git', ref: {'5ec0ffee' * 5}",
        SOURCE % "maven: 'org.rocksdb:rocksdbjni'",
        SOURCE % "path: main",
    ],
}  # fmt: skip
