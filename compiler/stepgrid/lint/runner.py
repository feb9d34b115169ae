"""All rules over one spec: findings to problems, the same finding in many cells once, `allow` obeyed."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.expand.cells import Expansion
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map
from stepgrid.lint import registry
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject

SETTINGS = ("mixed-quality",)  # `allow` of these says more than silence: builds are compared as shipped


def judge(document: Document, expansion: Expansion, problems: Problems) -> None:
    segments = {id(segment): segment for cell in expansion.cells for segment in cell.segments}
    kinds = {step.head.kind for segment in segments.values() for step in segment.steps}
    rules = registry.rules({build.engine for build in expansion.builds}, kinds)
    subject = Subject(document, expansion, registry.options_read(rules))
    allow = document.spec.allow
    silenced: set[str] = set()
    for rule in rules:
        merged = _merged(rule.check(subject))
        if rule.code in allow:
            silenced |= {rule.code} if merged else set()
            continue
        for found, cells in merged:
            _add(problems, rule, found, cells, subject)
    check_codes(document, problems)
    if allow and document.scale is None:  # another scale may need it
        _check_unused(document, silenced, problems)


def _merged(findings: Iterable[Finding]) -> list[tuple[Finding, set[int]]]:
    """One for each place: its first finding, with the cells of all."""
    first: dict[Location, Finding] = {}
    cells: dict[Location, set[int]] = {}
    for found in findings:
        first.setdefault(found.where, found)
        cells.setdefault(found.where, set()).update(found.cells or ())
    return [(found, cells[where]) for where, found in first.items()]


def _add(problems: Problems, rule: Rule, found: Finding, cells: set[int], subject: Subject) -> None:
    message = found.message + _counted(cells, subject)
    if rule.severity == "error":
        problems.add(rule.code, found.where, message, found.hint, found.width)
    else:
        problems.warn(rule.code, found.where, message, found.hint, found.width)


def _counted(cells: set[int], subject: Subject) -> str:
    total = len(subject.cells)
    if not cells or total == 1:
        return ""
    if len(cells) == total:
        return f" (in all {total:,} cells)"
    labels = ", ".join(subject.labels(min(cells)).values())
    return f" (in {len(cells):,} of {total:,} cells: {labels}{', …' if len(cells) > 1 else ''})"


def check_codes(document: Document, problems: Problems) -> None:
    """Report codes in `allow` that no lint has."""
    allow = document.spec.allow
    codes = {rule.code for rule in registry.every_rule()} if allow else set()
    for code in allow:
        if code not in codes:
            where = _code_place(document, code)
            problems.warn("allow-unknown", where, f"there is no lint `{code}`", nearest(code, codes), len(code))


def _check_unused(document: Document, silenced: set[str], problems: Problems) -> None:
    codes = {rule.code for rule in registry.every_rule()}
    for code in document.spec.allow:
        if code in codes and code not in {*silenced, *SETTINGS}:
            hint, where = "nothing here to silence: take it out", _code_place(document, code)
            problems.warn("allow-unused", where, f"`allow` names `{code}`, which finds nothing", hint, len(code))


def _code_place(document: Document, code: str) -> Location:
    nodes = document.nodes.get("allow")
    return nodes.at.get(code, document.nodes.where) if isinstance(nodes, Map) else document.nodes.where
