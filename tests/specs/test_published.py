"""The claims of published experiments, judged by the author's own figures."""

import json

import pytest

from scripts import claims_page
from stepgrid.language import yaml
from stepgrid.language.problems import Problems
from stepgrid.language.validation import validate
from stepgrid.model.plan import PlannedClaim
from stepgrid.model.records import replace
from stepgrid_published import claims as published_claims
from stepgrid_published import figures as published
from stepgrid_published.claims import judge_as_published
from stepgrid_published.figures import Published
from tests.specs.conftest import SPECS, shipped_plan

POSTS = sorted(path.stem for path in (SPECS / "posts").glob("*.yaml"))


def figures(post):
    problems = Problems()
    tables = published.read(str(SPECS / "posts" / f"{post}.yaml"), problems)
    assert tables is not None, problems.items
    assert not problems.items
    return tables


@pytest.mark.parametrize("post", POSTS)
def test_no_claim_is_refuted_by_the_figures_that_it_is_made_from(compiled, post):
    plan, tables, problems = compiled(post), figures(post), Problems()
    published_claims.check_labels(plan, tables, problems)
    assert not problems.items
    judged = judge_as_published(plan, tables)
    assert [claim.line for claim in judged if claim.result == published_claims.REFUTED] == []


def test_the_page_is_made_from_them():
    page = (SPECS.parent / "docs" / "gallery" / "claims.md").read_text(encoding="utf-8")
    assert page == claims_page.page(shipped_plan) + "\n"


def test_every_file_is_of_a_post():
    assert {path.stem for path in (SPECS / "posts" / "published").iterdir()} == set(POSTS)


# One comparison of two builds of MySQL, by tables of our own

POST = "2025-12-sysbench-mysql"
PAIR = ("mysql-8.0.44", "mysql-5.6.51")


@pytest.fixture
def judge(compiled):
    def judge(expect, tables, step="insert"):
        plan, claim = compiled(POST), PlannedClaim(claim="c", expect=expect, where={"step": step})
        return judge_as_published(replace(plan, report=replace(plan.report, claims=(claim,))), tables)[0]

    return judge


def table(values, keys="", labels=PAIR, row="insert"):
    figures, names = json.dumps(values), ", ".join(labels)
    text = f"""published: 1
tables:
  - {{from: here, metric: qps, rows: step, columns: build, labels: [{names}], figures: {{{row}: {figures}}}{keys}}}
"""
    nodes, problems = yaml.parse(text, "a", Problems()), Problems()
    assert nodes is not None
    tables = validate(Published, nodes, problems)[0]
    assert tables is not None
    assert not problems.items
    return tables


RATIO = "qps(build='mysql-8.0.44') / qps(build='mysql-5.6.51')"
NO_FIGURE = "as published: no figure: c: qps(build='mysql-8.0.44'): insert has no such figure"
SIMILAR = "similar(qps(build='mysql-8.0.44'), qps(build='mysql-5.6.51'), 0.1)"


@pytest.mark.parametrize(
    ("expect", "values", "line"),
    [
        (f"{RATIO} >= 1.2", (126, 100), "as published: holds: c: 1.26× (claimed ≥ 1.2×)"),
        (f"1.2 < {RATIO} < 1.3", (126, 100), "as published: holds: c: 1.26× (claimed > 1.2× and < 1.3×)"),
        (f"{RATIO} >= 1.2", (105, 100), "as published: refuted: c: 1.05× (claimed ≥ 1.2×)"),
        (f"{RATIO} >= 1.2", (120, 100), "as published: holds: c: 1.20× (claimed ≥ 1.2×)"),
        (f"{RATIO} > 1.2", (None, 100), NO_FIGURE),
        (SIMILAR, (109, 100), "as published: holds: c: 1.09× (claimed 0.91–1.10×)"),
        (SIMILAR, (88, 100), "as published: refuted: c: 0.88× (claimed 0.91–1.10×)"),
        ("qps(build='mysql-8.0.44') < 0.1", (0, 100), "as published: holds: c: 0"),
        ("qps(build='mysql-8.0.44') > 100", (90, 100), "as published: refuted: c: 90.00 (claimed > 100)"),
    ],
)
def test_one_run_decides(judge, expect, values, line):
    assert judge(expect, table(values)).line == line


def test_ratios_decide_no_absolute_figure(judge):
    shares = table((1.3, 1), ", relative: true")
    assert judge(f"{RATIO} > 1.2", shares).result == "holds"
    absolute = judge("qps(build='mysql-8.0.44') > 1", shares)
    assert (absolute.result, absolute.numbers) == ("no figure", "qps is published as ratios only")


def test_a_figure_is_not_compared_with_itself(judge):
    expect = "qps(build='mysql-8.0.44', range=10) > 0.9 * qps(build='mysql-8.0.44', range=100)"
    both = judge(expect, table((130, 100), row="read-only"), step="read-only")  # a table that tells no ranges apart
    assert (both.result, both.numbers) == ("no figure", published_claims.ONE_FIGURE)
