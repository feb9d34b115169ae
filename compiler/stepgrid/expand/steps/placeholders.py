"""Placeholders in the words of commands, checked: what there is not would reach the program as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import node_location, width
from stepgrid.plugins.driver import unknown_placeholders


def check(said: str, words: Iterable[object], where: Location, known: Sequence[str], problems: Problems) -> None:
    """`said`: whose words they are, as the beginning of a sentence; `where`: of words without a place of their own."""
    for word in words:
        for placeholder, hint in unknown_placeholders(word, known) if isinstance(word, str) else ():
            message = f"{said} has no placeholder `{placeholder}`"
            problems.add("unknown-placeholder", node_location(word, where), message, hint, width(word))
