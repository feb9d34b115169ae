"""Every example of docs/language.md compiles."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.plan.model import Plan

PAGE = Path(__file__).resolve().parents[1] / "docs" / "language.md"
EXAMPLES = {
    re.search(r'title: "(.*)"', block)[1]: block  # type: ignore[index]
    for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
}


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples_compile(title: str, compile_text: Callable[..., Plan]) -> None:
    assert compile_text(EXAMPLES[title]).cells


def test_the_numbers_that_the_page_suggests(compile_text: Callable[..., Plan]) -> None:
    assert len(compile_text(EXAMPLES["a variant beside its family"]).cells) == 2
    assert len(compile_text(EXAMPLES["one load, two ways on"]).stages) == 3
    assert len(compile_text(EXAMPLES["large, or small for a try"], "smoke").cells) == 1
    grid = compile_text(EXAMPLES["four runs on one database, three times the same, one that is warmed up"])
    assert len(grid.cells[0].steps) == 1 + 4 + 3 + 2
    assert len(compile_text(EXAMPLES["generated points, and a machine of each point"]).cells) == 3 * 4 * 2
    # builds x (points of cache that they have) x data x fanout x rate x threads, less the excluded, plus one
    assert len(compile_text(EXAMPLES["every form of axis"]).cells) == 3 * 2 * 2 * 2 * 2 - 3 * 2 * 2 + 1
