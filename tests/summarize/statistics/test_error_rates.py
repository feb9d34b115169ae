"""The first table of docs/concepts/error-rates.md, simulated again with fewer tables."""

from pathlib import Path

import pytest

from bench import verdicts_rows

PAGE = Path(__file__).resolve().parents[3] / "docs/concepts/error-rates.md"
TABLES, MOST_ARMS = 320, 4
WRONG, POWER = 0.03, 0.12  # how far so few tables may be from the page: shares of tables, and of comparisons


def rows() -> list[tuple[str, int, int, verdicts_rows.Row]]:
    """Read kind of noise, loads, arms and shares from the first table of the page."""
    text = PAGE.read_text(encoding="utf-8").split("\n## ")[1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [
        (kind, *map(int, size.split(", ")), verdicts_rows.Row(*(float(share) / 100 for share in shares)))
        for kind, size, *shares in cells[2:]
    ]


SMALL = [pytest.param(*row, id="-".join(map(str, row[:3]))) for row in rows() if row[2] <= MOST_ARMS]


@pytest.mark.parametrize(("kind", "loads", "arms", "promised"), SMALL)
def test_verdicts_are_as_often_wrong_and_find_as_much_as_the_page_says(
    kind: str, loads: int, arms: int, promised: verdicts_rows.Row
) -> None:
    row = verdicts_rows.row(kind, loads, arms, TABLES)
    assert row.different <= promised.different + WRONG
    assert row.beyond <= promised.beyond + WRONG
    assert row.covered >= promised.covered - WRONG
    assert row.same == pytest.approx(promised.same, abs=POWER)
    assert row.found == pytest.approx(promised.found, abs=POWER)
