"""Loads that are added until it is sure, over real runs of a program whose figures come from its seed."""

import re

import pytest

from tests import waiting
from tests.integration.conftest import Lab

PROGRAM = """\
import os, sys
folder, factor, noise, seed, arm = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:]
if os.path.exists(f"{folder}/fail-{arm}"):
    sys.exit("told to fail")
with open(f"{folder}/seeds-{arm}", "a+") as file:  # each load has a seed of its own
    file.seek(0)
    seeds = file.read().split()
    if seed not in seeds:
        file.write(seed + " ")
        seeds.append(seed)
print("rate:", 100000 * factor * (1 + noise * (-1) ** seeds.index(seed)))
"""
SPEC = """\
title: which is faster?
builds: {python: {engine: program, source: {system: python3}, flags: {programs: python3}}}
steps:
  - name: count
    kind: command
    argv:
      - "{program:python3}"
      - FOLDER/rate.py
      - FOLDER
      - "{{ params.factor }}"
      - "{{ params.noise }}"
      - "{seed}"
      - "{{ params.arm }}"
    metrics: {qps: {pattern: "rate: ([0-9.]+)", required: true}}
sweep:
  arm:
    points:
      base: {params: {factor: 1, noise: 0, arm: a}}
      fast: {params: {factor: 1.3, noise: 0.003, arm: b}}
      near: {params: {factor: 1.05, noise: NOISE, arm: c}}
"""


@pytest.fixture
def lab(tmp_path):
    (tmp_path / "rate.py").write_text(PROGRAM)
    found = Lab(tmp_path)
    found.write(spec(found))
    return found


def spec(lab, repeat="{until: decided}", noise=0.014, more=""):
    text = SPEC.replace("FOLDER", str(lab.folder)).replace("NOISE", str(noise))
    return f"{text}{more}repeat: {repeat}\n"


def loads(lab):
    """Of each arm, those with a figure."""
    sql = "SELECT axis_arm, count(qps) FROM steps GROUP BY 1 ORDER BY 1"
    text = lab.execute(lab.argv("query", "spec.yaml", sql, "--format", "csv")).stdout
    return {arm: int(count) for arm, count in (line.split(",") for line in text.splitlines()[1:])}


def text(lab):
    return lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout


def test_one_command_goes_on_until_all_is_decided(lab):
    lab.write(spec(lab, "{until: decided, most: 7}", noise=0.028))
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert loads(lab) == {"base": 7, "fast": 3, "near": 7}
    assert "arm=near against arm=base, count: undecided after 3 loads\n2 stages more\n[9/11 done]" in done.stderr
    assert done.stderr.count("stages more\n") == 3
    said = text(lab)
    assert "3 to 7 loads (until decided: 3 to 7)" in said
    assert "2 comparisons: 1 decided, 1 undecided after the last load" in said
    assert re.search(r"arm=near against arm=base, count: 1\.\d\dx to 1\.\d\dx after 7 loads, the most", said)
    before = lab.results()
    assert lab.run().stdout.startswith("nothing to do: 3 cells, 17 stages measured\n")
    assert lab.results() == before
    lab.write(spec(lab, "{until: decided, most: 9}", noise=0.028))
    assert lab.run().returncode == 0
    assert loads(lab) == {"base": 9, "fast": 3, "near": 9}
    measured = lab.results()
    assert before.items() < measured.items()
    lab.execute(lab.argv("gc", "--yes"))  # each round has a plan of its own
    assert lab.results() == measured
    assert lab.run().stdout.startswith("nothing to do: 3 cells, 21 stages measured\n")


def run_with_a_kill(lab, results):
    """Kill a run when it has so many results, in its second round, and go on to the end."""
    run = lab.start(lab.argv("run", "spec.yaml"))
    waiting.until(lambda: len(lab.results()) >= results)
    run.kill()
    run.wait()
    waiting.until(lambda: not lab.processes())
    killed = lab.results()
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert killed.items() < lab.results().items()
    return done.stderr


def test_a_race_for_the_best_goes_on_after_a_kill(lab):
    """Of nine arms two are alike and best; each of the others falls, most after one load."""
    factors = (1.3, 1.298, 1.25, 1.1, 1, 0.9, 0.8, 0.7, 0.5)
    arms = (f"a{at}: {{params: {{factor: {factor}, noise: 0.002, arm: a{at}}}}}" for at, factor in enumerate(factors))
    points = "".join(f"      {arm}\n" for arm in arms)
    head, _, _ = spec(lab).partition("      base:")
    lab.write(f"{head}{points}repeat: {{until: best}}\nreport: {{base: {{arm: a4}}}}\n")
    run_with_a_kill(lab, results=12)
    counts = loads(lab)
    assert counts["a8"] == 1
    assert counts["a0"] == counts["a1"] > 2
    assert sum(counts.values()) < 3 * len(factors)
    answer = text(lab)
    assert "2 of 9 cells are within 2 % of the best QPS (95 %): arm=a0; arm=a1" in answer
    assert "race: 7 of 9 fell (1 after 1 load" in answer
    assert lab.run().stdout.startswith("nothing to do: 9 cells")


def test_a_search_goes_on_after_a_kill_and_confirms_by_fresh_loads_alone(lab):
    """The factor is the rate; the largest factors void the condition, and 1 is the best that does not."""
    tune = "{for: max qps where qps < 150000, over: {factor: [0.5, 2], noise: [0, 0.001]}, tries: 12, confirm: 2}"
    head = spec(lab).partition("sweep:")[0]
    lab.write(
        f"{head}params: {{factor: 1, noise: 0, arm: a}}\ntune: {tune}\nreport: {{base: {{factor: 0.5, noise: 0}}}}\n"
        "exclude: [factor == 1 and noise > 0.0002]\n"
    )
    assert "search: confirm what is best" in run_with_a_kill(lab, results=9)
    answer = " ".join(text(lab).split())
    assert re.search(r"count: factor=1, noise=[0-9.]+ has 2.00× .* the QPS of the base", answer)
    assert "left out: `qps < 150000` is not met" in answer
    assert lab.run().stdout.startswith("nothing to do: 12 cells")


@pytest.mark.nightly
def test_a_kill_in_the_middle_loses_nothing(lab):
    """By plain Snakemake."""
    run = lab.start(lab.snake())
    waiting.until(lambda: len(lab.results()) >= 10)  # in the second round
    run.kill()
    run.wait()
    waiting.until(lambda: not lab.processes())
    killed = lab.results()
    done = lab.execute(lab.snake())
    assert done.returncode == 0, done.stderr
    assert "2 comparisons: 2 decided" in text(lab)
    assert killed.items() < lab.results().items()
    found = loads(lab)
    assert found["near"] == found["base"] > found["fast"] == 3


@pytest.mark.nightly
def test_a_failure_holds_up_its_own_comparison_alone_and_an_arm_is_added(lab):
    lab.write(spec(lab))
    (lab.folder / "fail-b").touch()
    failed = lab.run()
    assert failed.returncode == 3
    found, measured = loads(lab), lab.results()
    assert found["near"] == found["base"] > 3
    assert found["fast"] == 0
    (lab.folder / "fail-b").unlink()
    lab.write(spec(lab, more="      slow: {params: {factor: 0.7, noise: 0.003, arm: d}}\n"))
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert measured.items() < lab.results().items()
    assert loads(lab).items() >= {"fast": 3, "slow": 3}.items()
    assert "3 comparisons: 3 decided" in text(lab)
