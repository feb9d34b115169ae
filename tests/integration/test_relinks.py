"""Links of one program: each load has its own, and link 1 is the build as it was."""

import json
import shutil
import subprocess

import pytest

from stepgrid.plan import plan_file
from tests.integration.conftest import Lab
from tests.needs import needs

SPEC = """\
title: links
builds:
  mine: {engine: program, source: {path: tree}, flags: {command: make, programs: bench}, relinks: 3}
steps:
  - {name: run, kind: command, argv: ["{program:bench}"], metrics: {qps: {pattern: 'QPS (\\d+)'}}}
repeat: 3
"""
MAKEFILE = """\
bench: main.o first.o second.o LIBRARY
\t$(CC) -o $@ main.o first.o second.o -L. LIBRARY
libthird.a: third.o fourth.o
\tar rcTHIN $@ third.o fourth.o
"""
MAIN = """\
#include <stdio.h>
int first(int), second(int), third(int), fourth(int);
int main(void) { return printf("QPS %d\\n", first(second(third(fourth(66))))) < 0; }
"""
NAMES = ("first", "second", "third", "fourth")
pytestmark = needs("cc", "make", "ar", "nm")


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path)
    write_tree(lab)
    lab.write(SPEC)
    return lab


def write_tree(lab, library="libthird.a", thin="s"):
    tree = lab.folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    makefile = MAKEFILE.replace("-L. LIBRARY", f"-L. {library}").replace("LIBRARY", "libthird.a")
    (tree / "Makefile").write_text(makefile.replace("THIN", thin))
    (tree / "main.c").write_text(MAIN)
    for name in NAMES:
        (tree / f"{name}.c").write_text(f"int {name}(int x) {{ return x + 1; }}\n")


def plan(lab):
    return plan_file.read(next(lab.store.root.glob("plans/*/plan.jsonl")).parent)


def builds_by_load(lab):
    """The build that each load was measured with, as its result says."""
    builds = {stage.load: stage.id for stage in plan(lab).stages}
    return {load: json.loads(next(lab.store.root.glob(f"results/{stage}/*/attempt.json")).read_text())["build"]
            for load, stage in builds.items()}  # fmt: skip


def functions(lab, build):
    """The functions of a build's program, by address."""
    argv = ["nm", "--numeric-sort", str(lab.store.build(build) / "tree" / "bench")]
    lines = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in (line.split()[-1] for line in lines) if name in ("main", *NAMES)]


def run(lab):
    process = lab.run(STEPGRID_LOOK="0")
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def test_each_load_has_a_link_of_its_own(lab):
    screen = run(lab)
    assert "links are alike" not in screen
    builds = builds_by_load(lab)
    orders = [functions(lab, builds[load]) for load in range(3)]
    assert orders[0] == ["main", *NAMES]
    assert len(set(map(tuple, orders))) == 3
    for order in orders:
        assert sorted(order[:3]) == ["first", "main", "second"], "the archive stays behind its users"
    assert len({tuple(order[3:]) for order in orders}) == 2, "and its members change places, too"
    (cell,) = plan(lab).cells
    assert (cell.labels, cell.build) == ({"build": "mine"}, builds[0])
    listed = lab.execute(lab.argv("builds", "spec.yaml")).stdout
    assert [line.partition(":")[0] for line in listed.splitlines() if line.startswith("mine")] == [
        "mine", "mine-link-2", "mine-link-3",
    ]  # fmt: skip
    assert "    mine: " not in listed
    results = lab.results()
    run(lab)
    assert lab.results() == results, "nothing is measured again"


def test_the_build_and_results_of_before_stay(lab):
    lab.write(SPEC.replace(", relinks: 3", ""))
    run(lab)
    first, results = set(builds_by_load(lab).values()), lab.results()
    assert len(first) == 1
    lab.write(SPEC.replace("repeat: 3", "repeat: 5"))
    process = lab.execute(lab.argv("plan", "spec.yaml"))
    text = process.stdout + process.stderr
    assert "  to do    build: 2; measure: 4 stages" in text
    assert "build.link: 1 -> 2" in text
    assert "`mine` has 3 links for 5 loads: intervals count loads of one link as independent" in text
    run(lab)
    assert results.items() <= lab.results().items()
    assert len(lab.results()) == len(results) + 4


def test_a_program_of_one_file_says_that_its_links_are_alike(lab):
    (lab.folder / "tree" / "Makefile").write_text("bench: main.c\n\t$(CC) -o $@ main.c\n")
    (lab.folder / "tree" / "main.c").write_text('#include <stdio.h>\nint main(void) { puts("QPS 7"); return 0; }\n')
    screen = run(lab)
    sentence = "no file of it was linked of several objects of its tree: its links are alike"
    assert screen.count(sentence) >= 2, screen
    assert sentence in lab.execute(lab.argv("builds", "spec.yaml")).stdout
