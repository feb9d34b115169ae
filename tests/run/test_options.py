"""Options that a binary lacks: dropped, unsupported, or an error with the nearest name."""

import json

import pytest
from msgspec import convert

from stepgrid.language.files import checksum
from stepgrid.model.plan import Option, PlannedBuild
from stepgrid.model.records import StepSetup, replace

SHOW = "import sys; print(sys.argv[2:])"
KNOWN = ("cache_size", "block_size", "log_bin")
PLACE = "a.yaml:1:2"


def cell(value):
    return Option(value, "cell", PLACE)


ELSEWHERE = ", nor has any other build of this plan"
NOT_THERE = f"failed: {PLACE}: trial-1.0 has no option cache_siz{ELSEWHERE}; did you mean cache_size?"
SIZES = "sizes are written in KiB, MiB or GiB"
HINT = "where only some builds have it, say `when_unsupported: drop` or put it on a point of an axis"
# options; those of another build (none of one that is not made); what becomes of it
NAMES = [
    ({"cache_size": Option(5), "block_size": Option("8k")}, None, "['--block_size=8k', '--cache_size=5']"),
    ({"cache_size": Option(5, "drop"), "async_io": Option(True, "drop", PLACE)}, None, "['--cache_size=5']"),
    ({"cache_type": cell("lru")}, ["cache_type"], "unsupported: trial-1.0 has no option cache_type"),
    ({"cache_siz": cell(5)}, [], "unsupported: trial-1.0 has no option cache_siz"),
    ({"cache_siz": cell(5)}, ["cache_size"], NOT_THERE),
    ({"cache_siz": cell(5)}, None, NOT_THERE),
    (
        {"blok_size": Option(5, "error", PLACE)},
        ["blok_size"],
        f"failed: {PLACE}: trial-1.0 has no option blok_size; did you mean block_size?; {HINT}",
    ),
    ({"loose_cache_size": Option(5, where=PLACE)}, None, f"failed: {PLACE}: trial-1.0 has no option loose_cache_size"),
]


def outcome(checkout, stage="s-load"):
    if checkout.store.result(stage) is None:
        assert not (checkout.store.attempts(stage)[-1] / "steps").exists(), "nothing is run before they are checked"
        return f"failed: {checkout.failure(stage)['message']}"
    result = checkout.result(stage)
    if result["status"] == "unsupported":
        assert result["steps"] == []
        assert checkout.store.mark(stage).exists()
        return f"unsupported: {result['reason']}"
    return (checkout.store.result(stage) / "steps/0-load/stdout").read_text().strip()


@pytest.mark.parametrize(("options", "others", "expected"), NAMES)
def test_names_that_a_build_knows_or_lacks(checkout, stage, step, other_build, options, others, expected):
    builds = [replace(other_build, id="b-1", name="trial-1.0"), *([other_build] if others is not None else [])]
    checkout.plan(stage("s-load", step("load", SHOW, options)), builds=builds)
    checkout.build(options=KNOWN)
    if others:
        checkout.build(other_build, options=others)
    done = checkout.run("s-load")
    assert outcome(checkout).startswith(expected)
    assert (done.returncode == 0) == (not expected.startswith("failed"))
    if "async_io" in options:
        record = json.loads((checkout.store.result("s-load") / "steps/0-load/step.json").read_text())
        assert record["dropped"] == ["async_io"]


def test_cell_is_an_error_where_the_other_build_failed(checkout, stage, step, other_build):
    builds = [replace(other_build, id="b-1", name="trial-1.0"), other_build]
    checkout.plan(stage("s-load", step("load", SHOW, {"cache_siz": cell(5)})), builds=builds)
    checkout.build(options=KNOWN)
    (checkout.store.new_attempt("b-2") / "failure.json").write_text("{}")
    assert checkout.run("s-load").returncode == 1


@pytest.mark.parametrize(
    ("kind", "value", "fault"),
    [
        ("uint64", "64MB", f"(uint64), not `64MB`; did you mean `64MiB`? {SIZES}"),
        ("double", "half", "(double), not `half`"),
        ("int32", "1e6", f"(int32), not `1e6`; {SIZES}"),
        ("int32", "-1", ""),
        ("uint64", "0x10", ""),
        ("double", "1e-3", ""),
        ("string", "64MB", ""),
        (None, "anything", ""),  # of a build without a catalogue
    ],
)
def test_values_by_the_type_of_the_option(checkout, stage, step, kind, value, fault):
    checkout.plan(stage("s-load", step("load", SHOW, {"cache_size": Option(value, where=PLACE)})))
    checkout.build(options=["cache_size"] if kind else None, kind=kind or "")
    assert (checkout.run("s-load").returncode == 1) == bool(fault)
    taken = f"failed: {PLACE}: cache_size takes a number {fault}"
    assert outcome(checkout) == (taken if fault else f"['--cache_size={value}']")


def test_a_file_that_an_option_names_is_handed_over_with_its_path(checkout, stage, step):
    """Programs run in the folder of their step, where `opts.ini` is not."""
    (checkout.folder / "opts.ini").write_text("1")
    setup = {"files": {"opts.ini": checksum(str(checkout.folder / "opts.ini"))}, "named": {"opts.ini": "opts.ini"}}
    planned = step("load", SHOW, {"cache_size": Option("opts.ini"), "block_size": Option("opts")})
    checkout.plan(stage("s-load", replace(planned, setup=convert(setup, StepSetup))))
    checkout.build(options=KNOWN, kind="string")
    assert checkout.run("s-load").returncode == 0
    assert outcome(checkout) == f"['--block_size=opts', '--cache_size={checkout.folder}/opts.ini']"


def test_no_load_for_stages_whose_options_are_wrong(checkout, stage, step):
    """All of them at once; what another build has is no fault, and neither is what was measured already."""
    asked = [{"nope": Option(1, where="a.yaml:3:5")}, {"cache_siz": Option(2)}, {"cache_size": Option(3)}]
    later = [stage(f"s-{n}", step("l", SHOW, wrong), parent="s-load") for n, wrong in enumerate(asked)]
    checkout.plan(stage("s-load", children=[each.id for each in later]), *later)
    checkout.build(options=["cache_size"])
    assert checkout.run("s-load").returncode == 1
    message = checkout.failure("s-load")["message"]
    assert message.startswith("stages that start from it would fail: a.yaml:3:5: trial-1.0 has no option nope; where ")
    assert "; trial-1.0 has no option cache_siz; did you mean cache_size?; " in message
    assert not (checkout.store.attempts("s-load")[-1] / "steps").exists()
    for number in (0, 1):
        measured = checkout.store.results_of(f"s-{number}") / "20260101T000000.000000Z"
        measured.mkdir(parents=True)
        (measured / "result.json").write_text("{}")
    assert checkout.run("s-load").returncode == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"skip_log_bim": Option("ON", where=PLACE)}, f"{PLACE}: mysql-8 has no option skip_log_bim; did you "),
        (
            {"skip_log_bin": Option("OFF", where=PLACE)},
            f"{PLACE}: skip_log_bin takes ON, or 0 for the contrary, not `OFF`, which the server takes for ON",
        ),
    ],
)
def test_a_server_takes_its_options_with_a_prefix(checkout, stage, step, options, said):
    builds = [PlannedBuild("b-1", "mysql-8", "mysql", "8.0.31", {"system": "python"})]
    checkout.plan(stage("s-load", step("load", SHOW, {**options, "loose_whatever": Option(5)})), builds=builds)
    checkout.build(builds[0], options=KNOWN, kind="bool")
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"].startswith(said)
    assert "loose_whatever" not in checkout.failure("s-load")["message"]
