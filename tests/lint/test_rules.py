"""Each rule: specs that it finds, with the exact message, and specs just beside them that it lets pass."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from stepgrid.lint.runner import all_rules
from tests.lint import rules

FAMILIES: list[Any] = [import_module(f"{rules.__name__}.{family.name}") for family in iter_modules(rules.__path__)]
FIRES = {code: cases for family in FAMILIES for code, cases in family.FIRES.items()}
QUIET = {code: texts for family in FAMILIES for code, texts in family.QUIET.items()}


def test_every_rule_is_here():
    assert sorted(FIRES) == sorted(QUIET) == sorted(rule.code for rule in all_rules())


@pytest.mark.parametrize(("code", "text", "message"), [(c, *case) for c, cases in FIRES.items() for case in cases])
def test_it_fires(code, text, message, lints):
    found = lints(text).get(code)
    assert found is not None
    assert [one.replace(" (in all 2 cells)", "").replace(" (in all 3 cells)", "") for one in found] == [message]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in QUIET.items() for text in texts])
def test_it_stays_quiet(code, text, lints):
    found = lints(text)
    assert code not in found
    assert set(found) <= {rule.code for rule in all_rules()}  # the spec is otherwise sound
