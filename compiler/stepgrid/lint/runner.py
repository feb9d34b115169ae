"""All rules over one spec: findings become problems, one for the same finding in many cells, and `allow` is obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepgrid.expand.cells import Expansion
from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map
from stepgrid.lint import spec_rules
from stepgrid.lint.rule import Rule, RuleProvider
from stepgrid.lint.subject import LintSubject
from stepgrid.model.table import group
from stepgrid.plugins.registry import DRIVERS, ENGINES, driver, engine

SETTINGS = ("mixed-quality",)  # `allow` of these does more than silence: builds are compared as shipped


def check(document: Document, expansion: Expansion, problems: Problems) -> None:
    """Add the findings of all rules, except those that the spec's `allow` silences."""
    segments = {id(segment): segment for cell in expansion.cells for segment in cell.segments}
    kinds = {step.head.kind for segment in segments.values() for step in segment.steps}
    rules = applicable_rules({build.engine for build in expansion.builds}, kinds)
    subject = LintSubject(document, expansion, frozenset().union(*(rule.options for rule in rules)))
    allow = document.spec.allow
    silenced: set[str] = set()
    for rule in rules:
        by_place = group((finding.where, finding) for finding in rule.check(subject))
        if rule.code in allow:
            silenced |= {rule.code} if by_place else set()
            continue
        for first, *further in by_place.values():
            cells = {cell for finding in (first, *further) for cell in finding.cells or ()}
            message = first.message + _count(cells, subject)
            problems.append(Problem(rule.code, first.where, message, first.hint, rule.severity, first.width))
    codes = check_codes(document, problems, rules)
    if document.scale is None:  # another scale may need it
        for code in filter((codes - {*silenced, *SETTINGS}).__contains__, allow):
            hint, where = "nothing here to silence: take it out", _code_location(document, code)
            problems.warn("allow-unused", where, f"`allow` names `{code}`, which finds nothing", hint, len(code))


def check_codes(document: Document, problems: Problems, rules: Sequence[Rule] = spec_rules.RULES) -> set[str]:
    """Report codes in `allow` that no lint has. All plug-ins are imported only for one that `rules` do not have."""
    allow = document.spec.allow
    codes = {rule.code for rule in rules}
    if not codes.issuperset(allow):
        codes = {rule.code for rule in all_rules()}
    for code in allow:
        if code not in codes:
            where = _code_location(document, code)
            problems.warn("allow-unknown", where, f"there is no lint `{code}`", nearest(code, codes), len(code))
    return codes


def applicable_rules(engine_names: Iterable[str], kinds: Iterable[str]) -> list[Rule]:
    """List the rules of any spec and those of its engines and kinds, each once."""
    owners = (*map(engine, engine_names), *map(driver, kinds))
    own_rules = [rule for owner in owners if isinstance(owner, RuleProvider) for rule in owner.rules()]
    return list(dict.fromkeys((*own_rules, *spec_rules.RULES)))


def all_rules() -> list[Rule]:
    """List one rule of each code."""
    return list({rule.code: rule for rule in applicable_rules(ENGINES.names(), DRIVERS.names())}.values())


def _count(cells: set[int], subject: LintSubject) -> str:
    total = len(subject.cells)
    if not cells or total == 1:
        return ""
    if len(cells) == total:
        return f" (in all {total:,} cells)"
    labels = ", ".join(subject.labels(min(cells)).values())
    return f" (in {len(cells):,} of {total:,} cells: {labels}{', …' if len(cells) > 1 else ''})"


def _code_location(document: Document, code: str) -> Location:
    nodes = document.nodes.get("allow")
    return nodes.at.get(code, document.nodes.where) if isinstance(nodes, Map) else document.nodes.where
