"""Refs: what a branch is changes by the hour."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.language.sources import can_move, source_key, source_parts
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject

# a name that says a release (v9.9.3, mysql-8.0.31, REL_15_1), and the beginning of a commit
_FIXED = re.compile(r"refs/tags/.+|(?:.*[^0-9.])?(?:\d+[._]){2,}\d+\S*|.*\bv\d+\.\d+|REL_?\d+_\d+|[0-9a-f]{7,}")
_PLACE = re.compile(r"(?:[~^]\d*|\^\{\w*\})*$")  # beside another: REF^
_HINT = "`stepgrid lock` writes its commit into the lock file; a tag or a commit is as good"


def _branches(subject: Subject) -> Iterator[Finding]:
    open_ = [
        (build, source)
        for build in (*subject.expansion.builds, *subject.expansion.clients)
        for source in source_parts(build.source)
        if "git" in source and can_move(source) and not _FIXED.fullmatch(_PLACE.sub("", str(source.get("ref", ""))))
    ]
    locked = lock_file.read(subject.document.path, Problems()).pins if open_ else {}
    for build, source in open_:
        if source_key(source) not in locked:
            message = f"`{source.get('ref')}` names no release, so it may be a branch, and nothing says its commit"
            yield Finding(build.where, message, _HINT, width=len(build.family))


RULES = (Rule("ref-open", "a ref that may be a branch, without a lock file", _branches),)
