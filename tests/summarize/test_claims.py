"""Claims in words."""

from stepgrid.summarize import claims
from stepgrid.summarize.claim_judgement import MORE_LOADS
from stepgrid.summarize.claims import ClaimCase, JudgedClaim


def test_what_all_points_have_in_common_is_said_once() -> None:
    notes = "one load decides nothing", "more loads may decide it"
    cases = ClaimCase("holds", "q1", ("2", "3"), notes[:1]), ClaimCase("undecided", "q2", ("1", "4"), notes)
    found = JudgedClaim("c", "e", "undecided", cases, "l.i1, data=cached")
    assert [*claims.lines([found])] == [
        "undecided: c",
        "  e, at l.i1, data=cached, undecided at 1 of 2 points",
        "  each: one load decides nothing",
        "  q2: 1; 4; more loads may decide it",
        "  holds at q1",
    ]
    assert [cell.text for cell in claims.table([found]).rows[0]][-1] == "2; 3; one load decides nothing"
    (alone,) = JudgedClaim("c", "e", "holds", cases[:1], "l.i1").cases
    assert [*claims.lines([JudgedClaim("c", "e", "holds", (alone,), "l.i1")])][1:] == [
        "  e, at l.i1",
        "  q1: 2; 3; one load decides nothing",
    ]


def test_where_it_comes_out_otherwise_is_named() -> None:
    cases = (
        *(ClaimCase("fails", f"q{at}", ("1",)) for at in range(4)),
        *(ClaimCase("holds", f"l{at}", ("2",)) for at in range(8)),
    )
    found = JudgedClaim("c", "e", "fails", cases)
    assert [*claims.lines([found, JudgedClaim("d", "f", "undecided", ())])] == [
        "Claims 2: ✘ 1 fails ? 1 undecided",
        "fails: c",
        "  e, fails at 4 of 12 points",
        "  q0: 1",
        "  q1: 1",
        "  q2: 1",
        "  and 1 more, on the page",
        "  holds at l0; l1; l2; l3; l4; l5; and 2 more",
        "undecided: d",
        "  f",
    ]


def test_a_claim_has_one_line_of_a_brief_list() -> None:
    alone = JudgedClaim(
        "is fast", "e", "holds", (ClaimCase("holds", "q1", ("1.50× [1.49, 1.51] (claimed ≥ 1.4×)", "2")),)
    )
    cases = ClaimCase("undecided", "q1", ("0.90× (claimed ≥ 1×)",), (MORE_LOADS,)), ClaimCase("holds", "q2", ("2",))
    mixed = JudgedClaim("is no slower", "e", "undecided", cases)
    parts = JudgedClaim("is both", "e", "fails", (ClaimCase("fails", "", ("holds: qps: 3", "fails: p99_us: 4")),))
    assert [claims.brief_line(claim) for claim in (parts, alone, mixed)] == [
        "✘ fails: is both: p99_us: 4",
        "✔ holds: is fast: 1.50× [1.49, 1.51] (claimed ≥ 1.4×)",
        "? undecided at 1 of 2 points: is no slower: 0.90× (claimed ≥ 1×)",
    ]
    assert claims.brief_count([alone, alone, mixed]) == "Claims 3: ✔ 2 hold ? 1 undecided"
