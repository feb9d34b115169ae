"""The rules: those of any spec, and those that its engines and the kinds of its steps bring."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.lint import checkpoints, comparison, refs, step_limits
from stepgrid.lint.rule import Rule, RuleProvider
from stepgrid.lint.step_rules import StepRule
from stepgrid.plugins import registry
from stepgrid.plugins.registry import DRIVERS, ENGINES

_OF_ANY_SPEC = (step_limits, comparison, refs, checkpoints)


def rules(engine_names: Iterable[str], kinds: Iterable[str]) -> list[Rule]:
    """Each once, in no particular order."""
    owners = (*map(registry.engine, engine_names), *map(registry.driver, kinds))
    own = (rule for owner in owners if isinstance(owner, RuleProvider) for rule in owner.rules())
    return list(dict.fromkeys((*own, *(rule for family in _OF_ANY_SPEC for rule in family.RULES))))


def every_rule() -> list[Rule]:
    """One of each code."""
    found = rules(ENGINES.names(), DRIVERS.names())
    return list({rule.code: rule for rule in found}.values())


def options_read(some: Iterable[Rule]) -> frozenset[str]:
    """The names that they look at."""
    return frozenset(name.removesuffix(".unsupported") for rule in some for name in _reads(rule))


def _reads(rule: Rule) -> tuple[str, ...]:
    check = rule.check
    return (*rule.reads, *((*check.reads, *check.needs) if isinstance(check, StepRule) else ()))
