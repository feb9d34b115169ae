"""Repeats: verdicts come from repeated loads."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject

_HINT = "`repeat: 3`; one load gives ratios and at most the word indicative"


def _once(subject: Subject) -> Iterator[Finding]:
    repeat = subject.spec.repeat
    if len(subject.cells) < 2 or repeat.loads > 1:
        return
    message = f"{len(subject.cells):,} cells are compared and each is loaded once: there can be no verdict"
    if repeat.runs > 1:
        message = f"{repeat.runs} runs of one load are no repeats: they share its tree, so there can be no verdict"
    yield Finding(subject.places.key("repeat"), message, _HINT, width=6 if "repeat" in subject.document.nodes else 5)


RULES = (Rule("no-repeats", "a comparison without repeated loads", _once),)
