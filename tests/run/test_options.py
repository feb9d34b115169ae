"""Options that a binary lacks: dropped, unsupported, or an error with the nearest name."""

import json
from dataclasses import replace

import pytest

from stepgrid.language.files import checksum
from stepgrid.model.plan import FILES, NAMED, Option, PlannedBuild
from stepgrid.run.attempt import Job
from stepgrid.run.options import check

SHOW = "import sys; print(sys.argv[2:])"


@pytest.fixture
def with_options(checkout, stage, step, other_build):
    def make(options, known=("cache_size", "block_size"), others=None):
        builds = [replace(other_build, id="b-1", name="trial-1.0")]
        if others is not None:
            builds.append(other_build)
        checkout.plan(stage("s-load", step("load", SHOW, options)), builds=builds)
        checkout.build(options=known)
        if others:
            checkout.build(other_build, options=others)
        return checkout.run("s-load")

    return make


def test_known_options_reach_the_command(checkout, with_options):
    assert with_options({"cache_size": Option(5), "block_size": Option("8k")}).returncode == 0
    out = checkout.store.result("s-load") / "steps/0-load/stdout"
    assert out.read_text() == "['--block_size=8k', '--cache_size=5']\n"


def test_a_file_that_an_option_names_is_handed_over_with_its_path(checkout, stage, step):
    """Programs run in the folder of their step, where `opts.ini` is not."""
    (checkout.folder / "opts.ini").write_text("1")
    setup = {FILES: {"opts.ini": checksum(str(checkout.folder / "opts.ini"))}, NAMED: {"opts.ini": "opts.ini"}}
    planned = step("load", SHOW, {"cache_size": Option("opts.ini"), "block_size": Option("opts")})
    checkout.plan(stage("s-load", replace(planned, setup=setup)))
    checkout.build(options=("cache_size", "block_size"), kind="string")
    assert checkout.run("s-load").returncode == 0
    out = checkout.store.result("s-load") / "steps/0-load/stdout"
    assert out.read_text() == f"['--block_size=opts', '--cache_size={checkout.folder}/opts.ini']\n"


def test_drop_leaves_it_out_and_says_so(checkout, with_options):
    assert with_options({"cache_size": Option(5), "async_io": Option(True, "drop", "a.yaml:1:2")}).returncode == 0
    folder = checkout.store.result("s-load") / "steps/0-load"
    assert (folder / "stdout").read_text() == "['--cache_size=5']\n"
    assert json.loads((folder / "step.json").read_text())["dropped"] == ["async_io"]


def test_cell_is_unsupported_where_another_build_knows_the_name(checkout, with_options):
    done = with_options({"cache_type": Option("lru", "cell", "a.yaml:1:2")}, others=["cache_type"])
    assert done.returncode == 0
    result = checkout.result("s-load")
    assert (result["status"], result["reason"]) == ("unsupported", "trial-1.0 has no option cache_type")
    assert result["steps"] == []
    assert checkout.store.mark("s-load").exists()


def test_cell_is_an_error_where_no_other_build_knows_the_name(checkout, with_options):
    done = with_options({"cache_siz": Option(5, "cell", "a.yaml:1:2")}, others=["cache_size"])
    assert done.returncode == 1
    expected = (
        "a.yaml:1:2: trial-1.0 has no option cache_siz, nor has any other build of this plan; did you mean cache_size?"
    )
    assert checkout.failure("s-load")["message"] == expected
    assert checkout.failure("s-load")["step"] == "load"


def test_cell_is_an_error_where_there_is_no_other_build(with_options):
    assert with_options({"cache_siz": Option(5, "cell")}).returncode == 1


def test_cell_is_unsupported_while_another_build_is_still_to_be_made(checkout, with_options):
    assert with_options({"cache_siz": Option(5, "cell")}, others=[]).returncode == 0
    assert checkout.result("s-load")["status"] == "unsupported"


def test_cell_is_an_error_where_the_other_build_failed(checkout, with_options):
    attempt = checkout.store.new_attempt("b-2")
    (attempt / "failure.json").write_text("{}")
    assert with_options({"cache_siz": Option(5, "cell")}, others=[]).returncode == 1


def test_an_error_names_the_place_the_build_and_the_nearest_name(checkout, with_options):
    done = with_options({"blok_size": Option(5, "error", "specs/x.yaml:12:5")}, others=["blok_size"])
    assert done.returncode == 1
    expected = (
        "specs/x.yaml:12:5: trial-1.0 has no option blok_size; did you mean block_size?; "
        "where only some builds have it, say `when_unsupported: drop` or put it on a point of an axis"
    )
    assert checkout.failure("s-load")["message"] == expected
    assert expected in done.stderr


def test_no_catalogue_no_check(checkout, with_options):
    assert with_options({"anything": Option(5)}, known=None).returncode == 0


def test_nothing_is_run_before_the_options_are_checked(checkout, stage, step):
    later = step("later", SHOW, {"nope": Option(1)})
    checkout.plan(stage("s-load", step("load"), later))
    checkout.build(options=["cache_size"])
    assert checkout.run("s-load").returncode == 1
    assert not (checkout.store.attempts("s-load")[-1] / "steps").exists()


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


def test_what_was_measured_does_not_stop_a_load(checkout, stage, step):
    later = stage("s-1", step("l", SHOW, {"nope": Option(1)}), parent="s-load")
    checkout.plan(stage("s-load", children=["s-1"]), later)
    checkout.build(options=["cache_size"])
    (checkout.store.root / "results" / "s-1" / "20260101T000000.000000Z").mkdir(parents=True)
    (checkout.store.root / "results" / "s-1" / "20260101T000000.000000Z" / "result.json").write_text("{}")
    assert checkout.run("s-load").returncode == 0


def test_all_faults_of_a_step_are_said_at_once(checkout, with_options):
    with_options({"nope": Option(1, where="a.yaml:1:1"), "cache_siz": Option(2), "cache_size": Option("64MB")})
    message = checkout.failure("s-load")["message"]
    assert [part.split("; ")[0] for part in message.split("trial-1.0 has no option ")[1:]] == ["cache_siz", "nope"]


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (
            "uint64",
            "64MB",
            "cache_size takes a number (uint64), not `64MB`; did you mean `64MiB`? "
            "sizes are written in KiB, MiB or GiB",
        ),
        ("double", "half", "cache_size takes a number (double), not `half`"),
        ("int32", "1e6", "cache_size takes a number (int32), not `1e6`; sizes are written in KiB, MiB or GiB"),
    ],
)
def test_a_unit_slip_is_told_before_anything_runs(checkout, stage, step, kind, value, why):
    checkout.plan(stage("s-load", step("load", SHOW, {"cache_size": Option(value, where="a.yaml:3:5")})))
    checkout.build(options=["cache_size"], kind=kind)
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == f"a.yaml:3:5: {why}"
    assert not (checkout.store.attempts("s-load")[-1] / "steps").exists()


@pytest.mark.parametrize(
    ("kind", "value"), [("int32", "-1"), ("uint64", "0x10"), ("double", "1e-3"), ("double", ".5"), ("string", "64MB")]
)
def test_numbers_as_text_are_numbers(checkout, stage, step, kind, value):
    checkout.plan(stage("s-load", step("load", SHOW, {"cache_size": Option(value)})))
    checkout.build(options=["cache_size"], kind=kind)
    assert checkout.run("s-load").returncode == 0


@pytest.fixture
def with_mysql(checkout, stage, step):
    def make(options, known=("log_bin", "performance_schema"), kind="bool"):
        builds = [PlannedBuild("b-1", "mysql-8", "mysql", "8.0.31", {"system": "python"})]
        checkout.plan(stage("s-load", step("load", SHOW, options)), builds=builds)
        checkout.build(builds[0], options=known, kind=kind)
        return checkout.run("s-load")

    return make


def test_a_server_takes_its_options_with_a_prefix(checkout, with_mysql, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    with_mysql({"skip_log_bin": Option("ON"), "loose_whatever": Option(5), "performance_schema": Option("OFF")})
    job = Job.load(checkout.store, "p", "s-load")
    assert [each.options for each in check(job, job.stage)] == [
        {"skip_log_bin": "ON", "loose_whatever": 5, "performance_schema": "OFF"}
    ]


def test_a_prefix_before_what_there_is_not(checkout, with_mysql):
    assert with_mysql({"skip_log_bim": Option("ON", where="a.yaml:3:5")}).returncode == 1
    assert checkout.failure("s-load")["message"].startswith("a.yaml:3:5: mysql-8 has no option skip_log_bim; did you ")


def test_a_prefix_that_says_the_opposite_of_its_value(checkout, with_mysql):
    assert with_mysql({"skip_log_bin": Option("OFF", where="a.yaml:3:5")}).returncode == 1
    assert checkout.failure("s-load")["message"] == (
        "a.yaml:3:5: skip_log_bin takes ON, or 0 for the contrary, not `OFF`, which the server takes for ON"
    )


def test_other_engines_have_no_prefixes(checkout, with_options):
    assert with_options({"loose_cache_size": Option(5)}).returncode == 1
