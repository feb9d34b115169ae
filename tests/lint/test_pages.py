import pytest

from scripts.problems_page import index
from stepgrid.lint.spec_rules import all_rules
from tests.lint.codes import reported
from tests.lint.pages import FOLDER, pages, shown

PAGES = {page.code: page for page in pages()}
EXAMPLES = [pytest.param(page, example, id=f"{page.code}-{example.kind}")
            for page in PAGES.values() for example in page.examples]  # fmt: skip


def test_every_code_has_a_page_and_every_page_a_code():
    assert sorted(PAGES) == sorted(reported())


def test_a_page_is_named_after_its_code():
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted({*PAGES, "README"})


def test_a_rule_and_its_page_say_the_same():
    assert {rule.code: (rule.severity, rule.summary) for rule in all_rules()} == {
        rule.code: (PAGES[rule.code].severity, PAGES[rule.code].summary) for rule in all_rules()
    }


@pytest.mark.parametrize("code", sorted(PAGES))
def test_a_page_has_both_examples_and_a_reason(code):
    assert [example.kind for example in PAGES[code].examples] == ["wrong", "right"]
    assert "**Why.**" in (FOLDER / f"{code}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_an_example_is_what_its_page_says(page, example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problems = example.problems(tmp_path)
    if example.kind == "wrong":
        assert shown(problems, page.code) == page.message
        assert {problem.severity for problem in problems if problem.code == page.code} == {page.severity}
    else:
        assert page.code not in {problem.code for problem in problems}
        assert [problem for problem in problems if problem.severity == "error"] == []


def test_the_index_lists_them():
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == index(FOLDER)
