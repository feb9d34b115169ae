"""How much of a long line is shown, and where its caret stands."""

import pytest

from stepgrid.language.problems import EXCERPT_WIDTH as WIDTH
from stepgrid.language.problems import _cut


def test_a_line_that_fits_is_whole() -> None:
    line = "x" * WIDTH
    assert _cut(line, 5) == (line, 5)


@pytest.mark.parametrize("column", [0, WIDTH // 2, WIDTH, 2 * WIDTH - 1])
def test_a_longer_one_is_cut_around_the_column(column: int) -> None:
    line = "".join(chr(0x4E00 + number) for number in range(2 * WIDTH))
    shown, at = _cut(line, column)
    assert shown[at] == line[column]
    assert len(shown.strip("…")) == WIDTH
    assert shown.startswith("…") == (not shown.startswith(line[0]))
    assert shown.endswith("…") == (not shown.endswith(line[-1]))
