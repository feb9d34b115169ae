"""What the gallery keeps, and what it does not."""

import json
import re
import runpy
import socket
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from stepgrid.errors import FAILED

ROOT = Path(__file__).resolve().parents[2]
gallery = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "gallery.py")))
KEPT = sorted((ROOT / "docs" / "gallery").glob("*.txt"))


def test_each_is_a_spec_with_that_scale_but_the_whole():
    for name in gallery.SPECS:
        text = (ROOT / gallery.spec(name)).read_text(encoding="utf-8")
        assert (f"  {gallery.SCALE}:" in text) == ("--scale" in gallery.arguments(name)), name
    assert gallery.arguments(gallery.WHOLE) == ["specs/quickstart.yaml"]


@pytest.mark.parametrize(
    "text", [f"log {ROOT}/outputs/x", f"page {Path.home()}", f"host {socket.gethostname()}, 2 cores"]
)
def test_a_text_that_names_this_machine(text):
    assert gallery.machine(text)


def test_the_host_of_a_summary():
    text = "  repeats     1 load\n  host        AMD EPYC, 2 cores,\n                ext4 on vda\n  status      1 done\n"
    assert gallery.host(text) == "AMD EPYC, 2 cores, ext4 on vda"


def test_the_quickstart_is_not_run_beside_others(monkeypatch, capsys):
    cpu = {"name": "cpu", "severity": "warning", "said": "others used 60 % of a core"}
    findings = [{"name": "reclaim", "severity": "warning", "said": "DAMON"}, {"name": "steal", "severity": "ok"}, cpu]
    names = gallery.main.__globals__
    monkeypatch.setitem(names, "output", lambda *_: json.dumps({"sections": [{"findings": findings}]}))
    monkeypatch.setitem(names, "run", lambda name: pytest.fail(f"{name} is run"))
    assert gallery.main(["quickstart"]) == FAILED
    assert capsys.readouterr().err == (
        "the quickstart is measured on a quiet host alone; doctor says: cpu: others used 60 % of a core\n"
    )


def test_figures_of_a_disturbed_run_are_not_kept(monkeypatch, capsys):
    names = gallery.main.__globals__
    monkeypatch.setitem(names, "describe", lambda _: EXHIBIT)
    monkeypatch.setitem(names, "texts_of", lambda _: [("quickstart.txt", "  ! 1 warning  3 of 12 stages disturbed\n")])
    assert gallery.keep("quickstart") is None
    assert "not kept: the host was not quiet: 3 of 12 stages disturbed" in capsys.readouterr().err


EXHIBIT = gallery.Exhibit("posts/a", "0f", "Title A", "a: 2× of b", 3, 6, 65.0, frozenset({"2026-01-02"}), "4 cores")


def test_a_card_has_a_chart_with_an_answer():
    text = gallery.card(EXHIBIT)
    assert text.startswith(
        "- [![Title A: the first chart](a.svg)](a.txt)\n\n    **[Title A](a.txt)**\n\n    a: 2× of b\n"
    )
    assert "    [text](a.txt) · [spec](../../specs/posts/a.yaml) · 3 cells, 6 stages, 1 min 05 s\n" in text
    long = gallery.card(EXHIBIT._replace(name="microbenchmarks", seconds=5.4))
    assert "[per operation](microbenchmarks.per-operation.txt) · 3 cells, 6 stages, 0 min 05 s\n" in long
    whole = gallery.card(EXHIBIT._replace(name="quickstart"))
    assert "[![Title A: the first chart](quickstart.svg)](quickstart.html)" in whole


def test_the_chart_of_a_card_is_the_narrow_one_of_the_page():
    picture = gallery.thumbnail((gallery.GALLERY / "quickstart.html").read_text(encoding="utf-8"))
    assert re.match(
        r'<svg xmlns="[^"]+" class="chart" role="img" aria-label="QPS of readww" viewBox="[-\d. ]+" width="3\d\d"',
        picture,
    )
    ElementTree.fromstring(picture)


def test_readme_and_gallery_show_one_run():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    window = readme.partition(gallery.BEGIN)[2].partition(gallery.END)[0]
    brief = window.partition("```\n")[2].partition("```")[0]
    text = (ROOT / "docs" / "gallery" / "quickstart.txt").read_text(encoding="utf-8")
    assert brief.count("\n") >= 10
    assert text.startswith(brief)
    plan = re.search(r"plan ([0-9a-f]{8}):", window)
    assert plan[1] in text


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_is_kept_names_no_machine_and_is_not_wide(path):
    text = path.read_text(encoding="utf-8")
    assert not paths(text)
    assert [line for line in text.splitlines() if len(line) > 120] == []


def paths(text):
    return re.findall(r"(?<![\w.}/<])/(?:[\w.-]+/)+[\w.-]*", re.sub(r"\w+://\S+", "", text))


@pytest.mark.parametrize("path", sorted(gallery.GALLERY.glob("*.html")), ids=lambda path: path.stem)
def test_a_page_names_no_machine(path):
    text = re.sub(r"<(style|script|svg).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    shown = re.sub(r"<[^>]+>", "\n", text)
    assert gallery.machine(shown) is None
    assert not [each for each in paths(shown) if not each.startswith("/tmp/stepgrid-socket-")]


def test_every_article_has_its_tables_where_the_page_says():
    """Headings of the summaries, as docs/gallery/articles.md names them."""
    article, seen = "", set[str]()
    for line in (gallery.GALLERY / "articles.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or cells[0] == "article" or set(cells[0]) == {"-"}:
            continue
        article = found[1] if (found := re.search(r"\(([^)]+\.txt)\)", cells[0])) else article
        seen.add(article)
        headings = [
            line.partition(":")[0] for line in (gallery.GALLERY / article).read_text(encoding="utf-8").splitlines()
        ]
        named = re.findall(r"`([^`]+)`", cells[2])
        assert named
        assert not [name for name in named if name.partition(":")[0] not in headings], article
    assert seen == {f"{Path(name).name}.txt" for name in gallery.SPECS if name.startswith("posts/")}
