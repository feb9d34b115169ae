"""Every example of docs/reference/language.md compiles, and every key of the language stands in one."""

import re
from pathlib import Path

import pytest

from stepgrid.language import models

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/language.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
LIBRARIES = {said[1]: block for block in BLOCKS if (said := re.match(r"# (\w+)\.yaml\n", block))}
EXAMPLES = {re.search(r'title: "(.*)"', block)[1]: block for block in BLOCKS if block not in LIBRARIES.values()}
MODELS = [found for found in vars(models).values() if isinstance(found, type) and issubclass(found, models.Model)]
WRITTEN_OUT = {"groups"}  # by the short forms alone


@pytest.fixture
def compile_example(compile_text, tmp_path):
    (tmp_path / "slower.patch").write_text("a patch")
    return lambda title, scale=None: compile_text(EXAMPLES[title], scale, **LIBRARIES)


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples_compile(title, compile_example):
    assert compile_example(title).cells


@pytest.mark.parametrize("model", MODELS)
def test_every_key_has_an_example(model):
    keys = {field.alias or name for name, field in model.model_fields.items()} - WRITTEN_OUT
    assert {key for key in keys if not re.search(rf"(?<![\w-]){key}:", "".join(BLOCKS))} == set()


def test_the_numbers_that_the_page_suggests(compile_example):
    assert len(compile_example("a variant beside its family").cells) == 2
    assert len(compile_example("one load, two ways on").stages) == 3
    assert len(compile_example("large, or small for a try", "smoke").cells) == 1
    grid = compile_example("four runs on one database, three times the same, one that is warmed up")
    assert len(grid.cells[0].steps) == 1 + 4 + 3 + 2 + 6
    assert len(compile_example("generated points, and a machine of each point").cells) == 3 * 4 * 2
    # builds x (points of cache that they have) x data x fanout x rate x threads, less the excluded, plus one
    assert len(compile_example("every form of axis").cells) == 3 * 2 * 2 * 2 * 2 - 3 * 2 * 2 + 1
    several = compile_example("two engines, each cell twice, on the database of each of two loads")
    assert [len(cell.repeats) for cell in several.cells] == [4, 4]
