"""Options that the spec leaves alone and whose defaults differ between builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.summarize.notes.option_defaults import Defaults
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

OLD, NEW = scenario.OLD, scenario.NEW
LIBRARY = {"route": "library", "assertions": False, "compiler": "GCC 7.3.1", "compressions": ["lz4", "zstd"]}
SOURCE = {"route": "source", "assertions": True, "compiler": "GCC 12.2.0", "march": "native", "compressions": ["lz4"]}


def measured(root: Path, old: dict[str, str] | None, new: dict[str, str] | None, **more: object) -> Report:
    found = Experiment(root, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    found.add_build(OLD, defaults=old, **more)  # type: ignore[arg-type]
    found.add_build(NEW, SOURCE if more else None, defaults=new)
    for build in (OLD, NEW):
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    return scenario.report(found)


def text(root: Path) -> str:
    return next(root.rglob(SUMMARY_TEXT)).read_text(encoding="utf-8")


def page(root: Path) -> str:
    return next(root.rglob(SUMMARY_PAGE)).read_text(encoding="utf-8")


def test_only_options_that_are_left_alone_and_differ(tmp_path: Path) -> None:
    """cache_type is what every step but the load says; benchmarks is the driver's."""
    old = {"readahead": "0", "same": "1", "gone": "1", "benchmarks": "a", "empty": "", "cache_type": "x"}
    new = {"readahead": "2097152", "same": "1.0", "new": "1", "benchmarks": "b", "empty": "z", "cache_type": "y"}
    found = measured(tmp_path, old, new).setup.defaults
    assert found is not None
    assert (found.base, found.others) == (OLD, (NEW,))
    assert found.rows == (("empty", ("", "z")), ("readahead", ("0", "2097152")))
    assert list(found.sentences) == [
        f"options that the spec leaves alone have other defaults than in {OLD} ({NEW}: 2): they are part of each ratio "
        "across builds, and listed below"
    ]
    assert f"other defaults than in {OLD} ({NEW}: 2)" in page(tmp_path)
    lines = text(tmp_path).splitlines()
    title = f"defaults that differ from those of {OLD}, of options that the spec leaves alone"
    assert lines[lines.index(title) + 2] == f"  {NEW}: empty empty -> z; readahead 0 -> 2097152"
    assert "<tr><th>readahead</th><th>0</th><th>2097152</th></tr>" in page(tmp_path)


def test_builds_with_the_same_differences_share_a_line() -> None:
    found = Defaults("a", ("b", "c", "d"), (("x", ("0", "1", "2", "1")), ("y", ("0", "0", "0", "0"))))
    assert found.groups() == [(("b", "d"), ["x 0 -> 1"]), (("c",), ["x 0 -> 2"])]


def test_a_number_has_the_digits_that_say_it(tmp_path: Path) -> None:
    measured(tmp_path, {"iter_k": "0"}, {"iter_k": "2.5169999999999999"})
    assert f"  {NEW}: iter_k 0 -> 2.517\n" in text(tmp_path)


@pytest.mark.parametrize(("old", "new"), [(None, {"a": "1"}), ({"a": "1"}, None), ({"a": "1"}, {"a": "1"})])
def test_without_both_catalogues_or_a_difference(
    tmp_path: Path, old: dict[str, str] | None, new: dict[str, str] | None
) -> None:
    assert measured(tmp_path, old, new).setup.defaults is None
    assert "defaults that differ" not in text(tmp_path)
    assert 'id="defaults"' not in page(tmp_path)


def test_a_library_is_labelled_and_gets_no_verdict_beside_a_compiled_one(tmp_path: Path) -> None:
    measured(tmp_path, None, None, quality=LIBRARY)
    said = " ".join(text(tmp_path).split())
    assert f"{OLD}: 6.11.4 (debian, rocksdb-tools 6.11.4-1, the official library; only db_bench is compiled)" in said
    assert f"{OLD}: the official library, and db_bench compiled against it: such builds compare with each other" in said
    assert f"no verdict: {OLD} and {NEW} were built differently: assertions no / yes" in said
    assert "quality: made as compiled from source; compiler GCC 12.2.0; -march native; assertions yes" in page(tmp_path)


def test_builds_are_called_as_the_spec_calls_them(tmp_path: Path) -> None:
    """Another spec made them, under names that nobody who reads this report has heard of."""
    found = Experiment(tmp_path, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    for build in (OLD, NEW):
        found.add_build(build)
        file = found.store.build(f"b-{build}") / "build.json"
        file.write_text(file.read_text().replace(f'"name": "{build}"', '"name": "what-another-spec-called-it"'))
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    assert [build.name for build in scenario.report(found).setup.builds.values()] == [OLD, NEW]
    assert "what-another-spec-called-it" not in text(tmp_path) + page(tmp_path)


def test_of_long_lists_what_went_and_what_came() -> None:
    rows = (
        ("optimizer_switch", ("mrr=on,hash_join=off,semijoin=on", "mrr=on,hash_join=on,semijoin=on,skip_scan=on")),
        ("plugins", ("a,b,c", "c,b,a")),
        ("pair", ("a,b", "a,c")),
    )
    assert Defaults("old", ("new",), rows).changes(0) == [
        "optimizer_switch -hash_join=off +hash_join=on +skip_scan=on",
        "plugins in another order",
        "pair a,b -> a,c",
    ]


def test_places_of_files_are_no_difference() -> None:
    rows = (
        ("log_file", ("{basedir}/data/x.log", "/var/lib/x.log")),
        ("relay_log", ("", "{hostname}-relay-bin")),
        ("date", ("1/2", "1/3")),
    )
    assert Defaults("old", ("new",), rows).changes(0) == ["date 1/2 -> 1/3"]
