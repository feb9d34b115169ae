"""Values that a run chooses, by a program that knows its limit: searches on an axis, and shares of a maximum."""

import pytest

from tests.integration.conftest import Lab

pytestmark = pytest.mark.integration
PROGRAM = """\
title: a program with a limit
builds: {sh: {engine: program, version: "1", source: {system: sh}}}
steps:
  - name: put
    kind: command
    argv: ["{program:sh}", "-c", "n={rate}; test $n -gt 700 && n=700; echo done: $n"]
    metrics: {achieved: {pattern: 'done: (\\d+)', better: higher}}
    for: {rate: {search: [10, 10000], for: "max rate where achieved >= rate", points: 12}}
repeat: 2
"""


def test_a_program_with_a_limit(tmp_path):
    lab = Lab(tmp_path)
    lab.write(PROGRAM)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    said = lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout.splitlines()
    at = said.index("put: max rate where achieved >= rate")
    assert said[at + 2].split() == ["build", "rate", "that", "holds", "lowest-highest", "fails", "from", "loads"]
    build, held, ends, failed, loads = said[at + 3].split()
    assert (build, ends, loads) == ("sh", "-", "2")
    assert 700 / 1.04 < float(held) <= 700 < float(failed) < 700 * 1.04
    rows = lab.execute(
        lab.argv("query", "--format", "csv", "SELECT count(*), min(tried_value), sum(tried_holds) FROM steps")
    )
    count, least, holding = rows.stdout.splitlines()[1].split(",")
    assert (count, float(least) > 10, 2 <= float(holding) < 24) == ("24", True, True)
    assert "put: max rate where achieved &gt;= rate" in next(tmp_path.glob("outputs/summary/*/index.html")).read_text()


SHARES = """\
title: a program at shares of what it reaches
builds: {sh: {engine: program, version: "1", source: {system: sh}}}
steps:
  - {name: load, kind: command, argv: ["{program:sh}", "-c", "true"], mutates: true, measured: false}
  - checkpoint: loaded
  - name: max
    kind: command
    argv: ["{program:sh}", "-c", "echo reached: {{ params.most }}"]
    metrics: {qps: {pattern: 'reached: (\\d+)'}}
  - name: paced
    kind: command
    argv: ["{program:sh}", "-c", "n={rate}; m={{ params.most }}; test $n -gt $m && n=$m; echo reached: $n in 3"]
    metrics: {qps: {pattern: 'reached: (\\d+)'}, p99_us: {pattern: 'in (\\d+)'}}
    for: {rate: {percent: [50, 110], of: max}}
sweep: {most: [700, 90]}
params: {most: 700}
"""


def test_shares_of_what_a_step_reached(tmp_path):
    """Each arm and load has the rates that its own maximum gives."""
    lab = Lab(tmp_path)
    lab.write(SHARES)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    rows = lab.execute(
        lab.argv("query", "--format", "csv", "SELECT qps, tried_value FROM steps WHERE step = 'paced' ORDER BY qps")
    )
    assert rows.stdout.splitlines()[1:] == ["45.0,45.0", "90.0,99.0", "350.0,350.0", "700.0,770.0"]
    said = lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout
    table = [line.split() for line in said.partition("paced: latency by rate\n")[2].splitlines()[2:6]]
    figures = [(words[0], words[1], *words[4:]) for words in table]
    assert figures == [
        ("700", "50%", "350", "350", "-", "3", "-", "-"),
        ("700", "110%", "770", "700", "-", "-", "-", "1", "of", "1"),
        ("90", "50%", "45", "45", "-", "3", "-", "-"),
        ("90", "110%", "99", "90", "-", "-", "-", "1", "of", "1"),
    ]
    assert "paced: arms are compared at equal shares of their own maximum, not at equal rates" in " ".join(said.split())
    assert "* no verdict: each arm was asked for a share of its own maximum" in said
    assert "Build both alike" not in said
    assert "maximum without a rate: 700 700, 90 90" in said
    assert "paced: latency by rate, p99" in next(tmp_path.glob("outputs/summary/*/index.html")).read_text()


def test_what_the_search_needs_must_be_there(tmp_path):
    lab = Lab(tmp_path)
    lab.write(PROGRAM.replace("echo done: $n", "echo done"))
    done = lab.run()
    assert done.returncode == 3
    assert "the search `max rate where achieved >= rate` cannot go on: `achieved` is not defined" in done.stderr
