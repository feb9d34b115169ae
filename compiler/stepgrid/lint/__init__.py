"""What experience says about a spec: rules that look at its cells. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepgrid.expand.cells import Expansion
    from stepgrid.language.problems import Problems
    from stepgrid.language.spec_file import Document


def check(document: Document, expansion: Expansion, problems: Problems) -> None:
    """Add what the rules find, less what the spec's `allow` silences."""
    from stepgrid.lint.runner import judge

    judge(document, expansion, problems)


def check_codes(document: Document, problems: Problems) -> None:
    """Report codes in `allow` that no lint has."""
    from stepgrid.lint import runner

    runner.check_codes(document, problems)
