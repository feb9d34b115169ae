"""Whoever sends a complaint about a site file to somebody else sends no password with it."""

import pytest

from stepgrid.language import problems
from stepgrid.language.problems import (
    Location,
    Problem,
    _cut,
    format_annotation,
    format_problems,
    mask_passwords,
    problem_record,
)
from tests.cases import rows


@pytest.mark.parametrize(("line", "shown"), rows(__file__, "what_is_shown_of_a_line"))
def test_what_is_shown_of_a_line(line, shown):
    assert [*mask_passwords([line])] == [shown]


@pytest.mark.parametrize("begin", ["|", ">-  # folded", "", '"one', "one"])
def test_what_goes_on_below_the_key(begin):
    """A value of several lines ends where a line stands no further right than its key."""
    lines = ["a:", f"  - password: {begin}".rstrip(), "      one, 'two'", "", "     three: 3", "    user: me"]
    shown = [*mask_passwords(lines)]
    assert shown[2:] == ["      **********", "", "     ********", "    user: me"]
    assert "one" not in shown[1]


def test_an_excerpt_has_none(tmp_path):
    file = tmp_path / "site.yaml"
    file.write_text("servers:\n  a: {host: h, password: secret, usr: u}\n")
    assert format_problems(
        [Problem("unknown-key", Location(str(file), 2, 34), "`usr` is not a key here", width=3)]
    ) == (
        f"{file}:2:34: error[unknown-key]: `usr` is not a key here\n"
        "   2 |   a: {host: h, password: ******, usr: u}\n"
        "     |                                  ^^^"
    )


def test_a_problem_as_json_has_every_part():
    problem = Problem("a-code", Location("a.yaml", 3, 7), "wrong", "do this", "warning", 4)
    assert [problem_record(problem)] == [
        {
            "code": "a-code",
            "severity": "warning",
            "file": "a.yaml",
            "line": 3,
            "column": 7,
            "message": "wrong",
            "hint": "do this",
        }
    ]


def test_github_escapes_data_and_properties():
    problem = Problem("a-code", Location("specs/a,b:c%.yaml", 3, 7), "50 %: a, b\r\nmore", "then: that")
    assert format_annotation(problem) == (
        "::error file=specs/a%2Cb%3Ac%25.yaml,line=3,col=7,title=a-code::50 %25: a, b%0D%0Amore%0Athen: that"
    )


def test_a_line_that_fits_is_whole():
    line = "x" * problems.EXCERPT_WIDTH
    assert _cut(line, 5) == (line, 5)


@pytest.mark.parametrize(
    "column", [0, problems.EXCERPT_WIDTH // 2, problems.EXCERPT_WIDTH, 2 * problems.EXCERPT_WIDTH - 1]
)
def test_a_longer_one_is_cut_around_the_column(column):
    line = "".join(chr(0x4E00 + number) for number in range(2 * problems.EXCERPT_WIDTH))
    shown, at = _cut(line, column)
    assert shown[at] == line[column]
    assert len(shown.strip("…")) == problems.EXCERPT_WIDTH
    assert shown.startswith("…") == (not shown.startswith(line[0]))
    assert shown.endswith("…") == (not shown.endswith(line[-1]))
