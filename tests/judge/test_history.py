"""stepgrid history: ten releases of a store, days of files, notes beside verdicts, and what the past says of one."""

import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.model.records import replace
from stepgrid.store import store as store_module
from stepgrid.summarize import gate
from stepgrid_judge.history_forms import make_histories
from stepgrid_page import static_site
from tests.summarize import scenario, synthetic
from tests.summarize.synthetic import Experiment

RELEASES = tuple(f"rocksdb-8.{number}.0" for number in range(10))
SLOWER_FROM = 6
GATE = gate.Gate((gate.Condition(gate.SLOWER),))
NOTE = "notes:\n  - {version: 8.6.0, step: readww, accepted: the new default}\n"


@pytest.fixture
def releases(tmp_path, monkeypatch):
    """Each release was measured on a day of its own; readww is 10 % slower from 8.6.0 on."""
    monkeypatch.chdir(tmp_path)
    return measured(tmp_path, monkeypatch, [0.9 if day >= SLOWER_FROM else 1.0 for day in range(len(RELEASES))])


def measured(root, monkeypatch, levels, hosts="", busy=""):
    source = random.Random(3)
    experiment = Experiment(root, builds=RELEASES, caches=("lru",), threads=("1",))
    Path(experiment.spec).parent.mkdir(exist_ok=True)
    Path(experiment.spec).touch()
    for day, (release, level) in enumerate(zip(RELEASES, levels, strict=True)):
        name = f"202611{day + 10}T101500.000000Z"
        monkeypatch.setattr(store_module, "next_time_name", lambda _, name=name: name)
        monkeypatch.setitem(synthetic.HOST, "hostname", hosts[day:][:1] or "bench-7")
        experiment.add_build(release, {"route": "debian", "suite": "trixie"})
        noise = source.gauss(1, 0.004)
        for load in range(3):
            experiment.add_load(release, load)
            rate = 1e4 * level * noise * source.gauss(1, 0.003)
            result = experiment.add(release, "lru", "1", load, {"readww": rate, "overwrite": 1e4})
            if str(day) in busy:
                attempt = json.loads((result / "attempt.json").read_text())
                (result / "attempt.json").write_text(json.dumps({**attempt, "noise": {"warning": "others used it"}}))
                experiment.seal(result)
    return experiment


def verdict(report):
    (entry,) = (
        entry for comparison in report.comparisons.leading for row in comparison.rows
        if row.step == "readww" for arm, entry in zip(comparison.arms, row.entries, strict=True) if RELEASES[6] in arm
    )  # fmt: skip
    return f"{entry.verdict}: {entry.conclusion.sentence if entry.conclusion else ''}"


def test_a_change_among_ten_releases_is_found_and_what_was_noted_stands_beside_it(releases, capsys):
    notes = Path(releases.spec).with_name("notes.yaml")
    report = scenario.report(releases)
    refused = [case.name for case in gate.gate_cases(report, GATE) if case.is_refused]
    assert f"readww, {RELEASES[6]}" in refused
    assert verdict(report) == "slower: "
    assert not any("both ways" in text for text in report.notes.warnings), "a change of level is no noise"

    notes.write_text(NOTE)
    noted = scenario.report(releases)
    assert verdict(noted) == "slower: accepted: the new default (notes.yaml:2)"
    cases = {case.name: case for case in gate.gate_cases(noted, GATE)}
    assert cases[f"readww, {RELEASES[6]}"].is_accepted
    assert [name for name, case in cases.items() if case.is_refused] == refused[1:], "no other release is accepted"

    assert main(["history", releases.spec, "readww", "--where", "cache=lru"]) == 0
    text = capsys.readouterr().out
    assert "readww/cache=lru/threads=1  10 releases, 2026-11-10 to 2026-11-19, on" in text
    assert text.count("from 8.6.0 on: ") == 1
    assert "slower than 8.0.0 to 8.5.0; accepted: the new default (notes.yaml:2)" in " ".join(text.split())
    assert main(["history", "overwrite", "--format", "json"]) == 0
    (steady,) = json.loads(capsys.readouterr().out)
    assert (steady["changes"], len(steady["rungs"])) == ([], 10)
    for form in ("svg", "html"):
        assert main(["history", releases.spec, "readww", "-o", f"one.{form}"]) == 0
        assert "8.6.0" in Path(f"one.{form}").read_text()
    ET.parse("one.svg")


def test_a_site_has_releases_on_all_machines_series_and_a_feed_of_their_changes(releases):
    report = scenario.report(releases)
    entries = []
    for name, host in (("amd", "a"), ("arm", "b")):  # two machines that say the same
        facts = {**report.data.facts, "host": {"s/1": {"hostname": host}}}
        entries.append(static_site.SiteEntry(name, scenario.altered(report, facts=facts), Path("none")))
    assert make_histories(releases.store, [replace(releases.plan, spec="other.yaml")]) == [], "it was not named"
    histories = make_histories(releases.store, [releases.plan])
    static_site.write(Path("web"), "Bench", None, entries, histories)
    assert (
        "rocksdb-8.6.0 against rocksdb-8.0.0: slower on 2 of 2 machines (readww)" in Path("web/index.html").read_text()
    )
    (page,) = Path("web/history").iterdir()
    texts = [path.read_text() for path in (page, Path("web/index.html"), Path("web/feed.xml"))]
    assert all("8.6.0" in text for text in texts)
    assert not any("bench-7" in text for text in texts), "the host's name"
    assert f'href="history/{page.name}"' in texts[1]
    atom = "{http://www.w3.org/2005/Atom}"
    feed_entries = ET.fromstring(texts[2]).findall(f"{atom}entry")
    days = [entry.findtext(f"{atom}updated", "") for entry in feed_entries]
    assert len(feed_entries) == 3
    assert days == sorted(days, reverse=True)
    Experiment(Path.cwd(), spec="a.yaml").add_load(RELEASES[0], 0)
    assert [*Path("web/history").iterdir()] == [page]
    assert make_histories(releases.store, [releases.plan])[0].changes[0].id == histories[0].changes[0].id


def test_a_difference_is_doubted_where_its_series_moves_as_far_both_ways(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moving = scenario.report(measured(tmp_path, monkeypatch, [1.0, 1.06] * 5))
    doubts = [text for text in moving.notes.warnings if "moved by" in text and "both ways, in" in text]
    assert any("8.9.0" in text for text in doubts)
    assert not any("8.1.0" in text for text in doubts), "nothing was before it"


def test_what_others_disturbed_is_in_no_level(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    experiment = measured(tmp_path, monkeypatch, [1.0] * SLOWER_FROM + [0.9] * 4, busy="06789")
    monkeypatch.setattr(store_module, "next_time_name", lambda _: "20261110T111500.000000Z")
    for load in range(2):
        experiment.add(RELEASES[0], "lru", "1", load, {"readww": 1e4, "overwrite": 1e4})
    scenario.report(experiment)
    assert main(["history", "readww"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "slower" not in text
    assert "in no level, for others used the host in most loads: 8.6.0, 8.7.0, 8.8.0, 8.9.0" in text
    assert main(["history", "readww", "--format", "json"]) == 0
    (series,) = json.loads(capsys.readouterr().out)
    assert [len(load) for load in series["rungs"][0]["loads"]] == [1, 1, 1], "the quiet results alone"


def test_a_series_of_another_host_doubts_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = scenario.report(measured(tmp_path, monkeypatch, [1.0, 1.06] * 5, hosts="baaaaaaabb"))
    assert any(case.entry.verdict == "faster" for one in report.comparisons.leading for case in one.cases())
    assert not any("both ways, in" in text for text in report.notes.warnings)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([1.0, 1.2, 1.1, 1.0], "too few days or loads to tell a change from noise: it takes 6"),
        ([1.002**day for day in range(20)], "no change of level, but each step goes the same way, 1.04× in all"),
        ([0.0, 0.0, 0.0], "in no level, for a load has no figure above 0: 2026-08-01"),
    ],
)
def test_days_without_a_change(tmp_path, monkeypatch, capsys, seconds, said):
    monkeypatch.chdir(tmp_path)
    for day, value in enumerate(seconds, 1):
        result = {"system": "S", "date": f"2026-08-{day:02}", "result": [[9, value, value]]}
        Path(f"{day:02}.json").write_text(json.dumps(result))
    assert main(["history", "all=*.json"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert main(["history", "all=*.json", "-o", "one.svg"]) == 0
    ET.parse("one.svg")


@pytest.mark.parametrize(
    ("word", "said"),
    [("a" * 300, "no file or series `aaa"), ("one.json", "no file or series"), ("", "`` names no file")],
)
def test_a_word_that_is_nothing_here(tmp_path, monkeypatch, capsys, word, said):
    monkeypatch.chdir(tmp_path)
    assert main(["history", word]) == 2
    assert said in capsys.readouterr().err


FAULTS = """\
notes:
  - {version: 8.6.0, step: readww}
  - {version: 8.6.0, accepted: yes it is, noise: no}
  - {verson: 8.6.0, bug: 12}
"""


def test_faults_of_notes_are_told_all_at_once_and_accept_nothing(releases, capsys):
    notes = Path(releases.spec).with_name("notes.yaml")
    notes.write_text(FAULTS)
    report = scenario.report(releases)
    assert verdict(report) == "slower: "
    faults = [text for text in report.notes.warnings if text.startswith(f"{notes}:")]
    assert {text.split(":")[1] for text in faults} == {"2", "3", "4"}
    assert main(["history", releases.spec]) == 1
    error = capsys.readouterr().err
    assert "expected one of `accepted`, `noise`, `bug`, found none of them" in error
    assert "did you mean `version`?" in error


def test_days_of_files_are_a_series(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = random.Random(4)
    for day in range(1, 21):
        seconds = source.gauss(1.0, 0.01) * (1.1 if day > 12 else 1.0)
        result = {"system": "S", "date": f"2026-08-{day:02}", "result": [[9, seconds, seconds]]}
        Path(f"2026080{day}.json").write_text(json.dumps(result))
    Path("notes.yaml").write_text("notes:\n  - {version: 2026-08-13, noise: another machine}\n")
    assert main(["history", "all=*.json"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "20 days, 2026-08-01 to 2026-08-20" in text
    assert "from 2026-08-13 on: 1.1" in text
    assert "slower than 2026-08-01 to 2026-08-12; noise: another machine (notes.yaml:2)" in text
