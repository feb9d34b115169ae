from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.store.store import PastStore, Store, time_name_prefix


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026-11-20", "20261120"),
        ("2026-11-20T18", "20261120T18"),
        ("2026-11-20 18:30", "20261120T1830"),
        ("2026-11-20T18:30:05Z", "20261120T183005"),
        ("yesterday", None),
        ("2026-11", None),
        ("abc123", None),
    ],
)
def test_how_names_of_results_begin_until_then(text: str, until: str | None) -> None:
    assert time_name_prefix(text) == until


def test_later_results_are_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    for name in ("20261119T235959.000000Z", "20261120T183059.999999Z", "20261120T183100.000000Z"):
        folder = store.results_of("s-1") / name
        folder.mkdir(parents=True)
        (folder / "result.json").write_text("{}")

    def there(date: str) -> list[str]:
        return [each.name[:13] for each in PastStore(store, time_name_prefix(date) or "", tmp_path).results("s-1")]

    assert there("2026-11-18") == []
    assert there("2026-11-19") == ["20261119T2359"]
    assert there("2026-11-20T18:30") == ["20261119T2359", "20261120T1830"]
    assert there("2026-11-20") == ["20261119T2359", "20261120T1830", "20261120T1831"]
    assert PastStore(store, "2026", tmp_path / "made").tables("p") == tmp_path / "made/p/tables"
