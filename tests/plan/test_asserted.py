"""Claims and tables of a spec, as the plan has them."""

from __future__ import annotations

import pytest

from tests.expand.samples import BASE, SWEEP, Compile, Complaints


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("qsp(cache='lru') > 1", "there is no metric `qsp`"),
        ("qps(cach='lru') > 1", "there is no axis `cach`"),
        ("qps(cache='lrru') > 1", "axis `cache` has no cell at `lrru`"),
        ("qps('lru') > 1", "the arguments of a figure have names"),
        ("qps > 1", "`qps` is not a figure"),
        ("qps(cache='lru') >", "`qps(cache='lru') >` is not an expression"),
    ],
)
def test_faults_of_claims(complaints: Complaints, claim: str, said: str) -> None:
    text = f'claims: [{{claim: c, expect: "{claim}", where: {{step: readww}}}}]\n'
    assert said in complaints(BASE + SWEEP + text)


def test_claims_and_tables_are_in_the_plan(compile_text: Compile, complaints: Complaints) -> None:
    report = "report: {base: {cache: lru}, tables: [{title: x, rows: %s, columns: build, where: {step: readww}}]}\n"
    claims = "claims: [{claim: c, expect: \"qps(cache='hyper', build='rocksdb') > 0.5 * qps(cache='lru')\"}]\n"
    plan = compile_text(BASE + SWEEP + report % "cache" + claims)
    assert plan.report.tables[0]["rows"] == ["cache"]
    assert plan.report.claims[0]["claim"] == "c"
    assert "a table has no axis `cahce` to show" in complaints(BASE + SWEEP + report % "cahce")
