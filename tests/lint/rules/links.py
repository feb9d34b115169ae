# ruff: noqa: E501
"""Links of programs."""

from tests.lint.rules import TWO

GIT = "git: 'https://example.org/r.git', ref: v9.9.3"
SPEC = (
    "title: t\nbuilds: {{b: {{engine: rocksdb, version: 9.9.3, source: {{{}}}, relinks: {}}}}}\n"
    + TWO.replace("{", "{{").replace("}", "}}")
    + "repeat: {}\n"
)

FIRES = {
    "links-repeated": [
        (SPEC.format(GIT, 3, 4), "`b` has 3 links for 4 loads: intervals count loads of one link as independent"),
        (SPEC.format(GIT, 3, "{until: decided, most: 12}"), "`b` has 3 links for 12 loads: intervals count loads of one link as independent"),
    ],
    "relinks-without-link": [
        (SPEC.format(source, 2, 2), f"build `b`: a {kind} source brings programs that are linked already")
        for kind, source in (
            ("debian", "debian: rocksdb-tools, suite: trixie"),
            ("maven", "maven: 'org.rocksdb:rocksdbjni'"),
            ("system", "system: db_bench"),
        )
    ],
}  # fmt: skip

QUIET = {
    "links-repeated": [SPEC.format(GIT, links, 4) for links in (1, 4, 5)],
    "relinks-without-link": [SPEC.format(GIT, 4, 4), SPEC.format("path: tree", 4, 4), SPEC.format("system: db_bench", 1, 4)],
}  # fmt: skip
