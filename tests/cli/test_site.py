"""A site file at work: where databases are, whose id results have, what is refused."""

import os
from pathlib import Path

import pytest

from stepgrid import pipeline
from stepgrid.cli import main
from stepgrid.host import facts
from stepgrid.language.problems import Problems, SpecError
from stepgrid.run.images import live_database
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, run_request
from stepgrid_inspect import disk
from stepgrid_inspect.disk import NeededNames, list_entries, unreferenced_entries

SPEC = """\
title: "t"
hardware: {id: big, cores: 4000}
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1k, duration: 1m, threads: "{{ 2 if hardware.cores == 4000 else 1 }}"}
allow: {step-short: "a try"}
scales:
  own: {hardware: here}
  two:
    hardware: null
    sweep: {server: {a: {hardware: {id: a, cores: 4000}}, b: {hardware: {id: b, cores: 4001}}}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("STEPGRID_SITE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "checkout").mkdir()
    (tmp_path / "fast").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    Path("a.yaml").write_text(SPEC)
    run_request.requested_plan.cache_clear()
    return tmp_path


def planned(scale=None):
    assert host_plan.use_site_file(None) == []
    return host_plan.compile_for_host("a.yaml", scale, Problems())


def allow():
    Path("site.yaml").write_text("allow_other_hardware: true\n")


def test_a_socket_in_a_command_is_refused_where_clients_run_elsewhere():
    Path("site.yaml").write_text("client: {host: bench2, listen: 127.0.0.1}\n")
    build = "{postgres: {engine: postgres, version: 17.0, source: {system: postgres}}}"
    step = '{name: ask, kind: command, argv: [psql, "{socket}"]}'
    Path("a.yaml").write_text(f"title: t\nbuilds: {build}\nsteps: [{step}]\n")
    with pytest.raises(run_request.Refusal) as refusal:
        pipeline.remaining_work({"spec": "a.yaml", "site": "site.yaml"}, dry_run=True)
    message = "step `ask`: its program runs on bench2, where `{socket}` leads nowhere"
    assert f"a.yaml:3:42: error[unknown-placeholder]: {message}" in str(refusal.value)


def test_databases_and_images_are_in_the_data_folder_by_checkout(folder):
    own, other = (Store(folder / name / "outputs", folder / "fast") for name in ("checkout", "other"))
    for store in (own, other):
        store.root.mkdir(parents=True)
        with live_database(store, "s-1") as data:
            assert data.is_relative_to(store.data)
            assert [path for _, path in store.leftovers()] == [store.live("s-1")]
        store.publish_image("s-1", store.new_image("s-1"))
        assert (store.data / "outputs").resolve() == store.root
    assert own.data != other.data
    assert own.image("s-1").is_dir()
    assert not (own.root / "images").exists()


def test_gc_sees_images_in_both_places_and_nothing_of_other_checkouts(folder):
    store, other = Store("outputs", folder / "fast"), Store("elsewhere/outputs", folder / "fast")
    for each in (store, Store("outputs"), other):
        each.publish_image("s-1", each.new_image("s-1"))
    found = unreferenced_entries(list_entries(store), NeededNames((), (), ()))
    assert [each.path for each in found] == [Path("outputs/images/s-1"), store.image("s-1")]
    assert disk.move_to_trash(store, found) == []
    assert not store.image("s-1").exists()
    assert other.image("s-1").is_dir()


def test_other_hardware_runs_under_the_hosts_own_id():
    own = planned("own")
    assert {stage.hardware for stage in planned().stages} == {"big"}
    allow()
    plan = planned()
    (machine,) = {stage.hardware for stage in plan.stages}
    assert machine == own.hardware["id"]
    assert plan.hardware == {**own.hardware, "described": {"big": {"id": "big", "cores": 4000}}}
    assert plan.machines == {machine: plan.hardware}
    assert "this host stands in for `big`: cores: the spec says 4000, this host has" in "\n".join(plan.warnings)
    threads = [stage.steps[0].settings["threads"] for stage in (*own.stages, *plan.stages)]
    assert threads == [1, 2], "settings follow the machine that is described"


def test_a_host_that_is_the_described_machine_is_no_other(monkeypatch):
    allow()
    monkeypatch.setattr(facts, "hardware", lambda *_: {"cores": 4000})
    plan = planned()
    assert {stage.hardware for stage in plan.stages} == {"big"}
    assert not any("stands in" in warning for warning in plan.warnings)


def test_the_rest_of_a_site_file_is_no_part_of_an_identity(folder):
    before = planned()
    Path("site.yaml").write_text("data: ../fast\ntools: {git: git2}\nmirrors: {'https://a/': /}\nnoise: leave\n")
    with Path("site.yaml").open("a") as site:
        site.write("client: {host: bench2, listen: 10.0.0.1}\n")
    assert host_plan.use_site_file("site.yaml") == []
    assert planned() == before


# A site file that nobody named may have come with a stranger's checkout

BUILT = """\
title: t
builds: {b: {engine: program, version: 1.0.0, source: {crate: thing, version: 1.0.0}, flags: {programs: x}}}
steps: [{name: say, kind: command, argv: [x]}]
"""


@pytest.fixture
def canary(folder):
    """What the cargo of a checkout's site file writes."""
    cargo = Path("cargo")
    cargo.write_text(f"#!/bin/sh\necho ran >>{folder}/canary\nexit 1\n")
    cargo.chmod(0o755)
    Path("site.yaml").write_text("tools: {cargo: ./cargo}\n")
    Path("a.yaml").write_text(BUILT)
    return folder / "canary"


COMMANDS = ("check", "lock", "outdated", "plan", "run")


@pytest.mark.parametrize("command", COMMANDS)
def test_tools_of_a_file_that_nobody_named_are_not_started(command, canary, capsys):
    assert main([command, "a.yaml"]) == 1
    said = capsys.readouterr().err
    assert "site.yaml:1:1: error[file-outside]: the site file `site.yaml` has `tools`: it may have come with" in said
    assert "at a terminal stepgrid asks once; `--site site.yaml` uses it, `--site ''` leaves it out" in said
    assert not canary.exists()


def test_a_named_file_is_used(canary, monkeypatch):
    assert main(["lock", "a.yaml", "--site", ""]) == 3
    assert not canary.exists()
    monkeypatch.delenv("STEPGRID_SITE")
    assert main(["lock", "a.yaml", "--site", "site.yaml"]) == 3
    assert canary.read_text().startswith("ran")
    canary.unlink()
    monkeypatch.setenv("STEPGRID_SITE", "site.yaml")
    assert main(["lock", "a.yaml"]) == 3
    assert canary.exists()


def test_a_user_is_asked_once(folder, canary, monkeypatch, capsys):
    answers = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: answers.pop(0))

    def locked(*words):
        answers[:] = words
        monkeypatch.delenv("STEPGRID_SITE", raising=False)
        status = main(["lock", "a.yaml"])
        assert not answers, "every answer was asked for"
        return status

    assert locked("no") == 1
    assert f"the site file site.yaml has entries that a stranger could misuse:\n  tools: cargo ({folder}" in (
        capsys.readouterr().err
    )
    assert not canary.exists()
    assert locked("yes") == 3
    assert canary.exists()
    assert (folder / "state/stepgrid").stat().st_mode & 0o777 == 0o700
    assert locked() == 3, "the same entries are not asked about again"
    with Path("site.yaml").open("a") as file:
        file.write("noise: leave\n")
    assert locked() == 3, "nor is what starts nothing"
    with Path("site.yaml").open("a") as file:
        file.write("roots: [/]\n")
    assert locked("") == 1


def test_a_file_that_starts_nothing_is_used_unless_it_is_another_user_s(folder, monkeypatch):
    Path("site.yaml").write_text("data: ../fast\n")
    assert host_plan.use_site_file(None) == []
    monkeypatch.delenv("STEPGRID_SITE")
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    (problem,) = host_plan.use_site_file(None)
    assert problem.message.startswith("the site file `site.yaml` is another user's: it may have come with")


@pytest.mark.parametrize(
    "entry", ["mirrors: {'https://a/': /}", "noise: fix", "signers: site.yaml", "client: {host: b, listen: '::1'}"]
)
def test_sources_settings_of_the_host_and_signers_are_asked_about(entry, capsys):
    Path("site.yaml").write_text(f"{entry}\n")
    assert main(["check", "a.yaml"]) == 1
    key = entry.partition(":")[0]
    assert f"the site file `site.yaml` has `{key}`: it may have come with" in capsys.readouterr().err


def test_a_link_shows_no_line_of_what_it_leads_to(folder, capsys):
    secret = folder / "secret.yaml"
    secret.write_text("token: p4ss\n")
    Path("site.yaml").symlink_to(secret)
    assert main(["check", "a.yaml"]) == 1
    said = capsys.readouterr().err
    assert f"error[file-outside]: the site file `site.yaml` is a link to `{secret}`" in said
    assert "p4ss" not in said


def test_another_machine_is_refused_before_anything_starts(capsys):
    assert main(["run", "a.yaml", "--dry-run"]) == 3
    said = capsys.readouterr().err
    cores = host_plan.host_facts(host_plan.store())["cores"]
    assert said.endswith(
        f"this is not the hardware of the spec:\n  big: cores: the spec says 4000, this host has {cores}\n"
        "nothing was started: run it on that machine, or say `allow_other_hardware: true` in a site file "
        "(docs/reference/running.md), which keeps its results under this host's own id\n"
    )
    assert not Path("outputs/attempts").exists()


@pytest.mark.parametrize("command", [["check", "a.yaml"], ["plan", "a.yaml"], ["gc", "a.yaml"], ["run", "a.yaml"],
                                     ["explain", "a.yaml", "build=rocksdb"]])  # fmt: skip
def test_every_command_says_what_is_wrong_with_it(command, capsys):
    Path("mine.yaml").write_text("dta: x\n")
    assert main([*command, "--site", "mine.yaml"]) == 1
    said = capsys.readouterr().err
    assert "mine.yaml:1:1: error[unknown-key]: `dta` is not a key here\n" in said
    assert "   = did you mean `data`?\n" in said


def test_a_job_with_a_wrong_one_is_a_sentence(monkeypatch, capsys):
    monkeypatch.setenv("STEPGRID_SITE", "/not/there.yaml")
    assert pipeline.run_stage("p", "s-1") == 1
    assert capsys.readouterr().err.startswith("the site file cannot be used: [Errno 2] No such file")
    with pytest.raises((SpecError, OSError)):
        host_plan.store()
