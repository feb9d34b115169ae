"""stepgrid export and import: results of one checkout join those of another, and nothing else is let in."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.cli import export as exporting
from compiler.cli import main
from compiler.plan import files
from compiler.plan.model import Plan, PlannedStage
from compiler.run import here, importing, workflow
from compiler.store import asked, retracted
from compiler.store.durable import make_folder, write_json
from compiler.store.store import Store
from tests.cli.samples import SPEC

SUMMARIZED = exporting._summarized
Capture = pytest.CaptureFixture[str]
Members = dict[str, tuple[tarfile.TarInfo, bytes]]


@pytest.fixture(autouse=True)
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that everything was measured in; `two`, the other one, is empty."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setattr(exporting, "_summarized", lambda *_: None)  # takes seconds
    workflow.compiled.cache_clear()
    plan = here.compiled("a.yaml", None)
    for stage in plan.stages:
        result(stage)
    for build in plan.builds:
        make_folder(Store().build(build.id) / "bin")
        write_json(Store().build(build.id) / "build.json", {"id": build.id, "name": build.name})
        (Store().build(build.id) / "bin" / "db_bench").write_text("a program")
    return tmp_path / "one"


@pytest.fixture
def two(one: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Store]:
    def enter() -> Store:
        monkeypatch.chdir(one.parent / "two")
        return Store()

    return enter


def result(stage: PlannedStage) -> Path:
    attempt = Store().new_attempt(stage.id)
    for index, step in enumerate(stage.steps):
        folder = attempt / "steps" / f"{index}-{step.name}"
        folder.mkdir(parents=True)
        (folder / "stdout").write_text(f"output of {step.name}")
    write_json(attempt / "attempt.json", {"host": {"hostname": "bench-7"}})
    write_json(attempt / "figures.db_bench.1.json", {})
    write_json(attempt / "result.json", {"stage": stage.id, "status": "done", "steps": [{} for _ in stage.steps]})
    return Store().publish_result(stage.id, attempt)


def planned() -> Plan:
    return here.compiled("a.yaml", None)


def export(capsys: Capture, *more: str, name: str = "x.tar.gz") -> Path:
    file = Path.cwd().parent / name
    assert main(["export", "a.yaml", str(file), *more]) == 0, capsys.readouterr().err
    return file


def test_results_join_those_of_another_checkout(two: Callable[[], Store], capsys: Capture) -> None:
    file = export(capsys)
    assert capsys.readouterr().out.startswith(f"{file}: 6 results of 6 of 6 stages, 25 files, ")
    store, plan = two(), planned()
    mine = result(plan.stages[0])
    assert main(["import", str(file)]) == 0
    assert capsys.readouterr().out == (
        "a.yaml: t\ntook 6 results, 0 attempts\n  with the records of builds that are not here: 2\n"
        "`stepgrid run a.yaml` summarizes them with those of this host\n"
    )
    stage = plan.stages[0].id
    assert len(store.results(stage)) == 2
    assert store.result(stage) == mine  # the newest counts, wherever it is from
    assert store.mark(stage).resolve() == (mine / "result.json").resolve()
    assert all(store.mark(each.id).exists() for each in plan.stages)
    assert (store.results(stage)[0] / "attempt.json").is_file()
    assert not list(store.results(stage)[0].glob("figures.*"))  # parsed again, by the code of this checkout
    work = workflow.work(plan, store)
    assert work.lacking == frozenset()  # nothing is to be measured, so no build is to be made
    assert not any(store.has_build(build.id) for build in plan.builds)
    assert json.loads((store.build_record(plan.builds[0].id) / "build.json").read_text())["id"] == plan.builds[0].id
    assert store.attempts("import") == []
    assert main(["plan", "a.yaml"]) == 0
    assert "to do    nothing\n  states   8 cached" in capsys.readouterr().out


def test_it_opens_where_there_is_no_such_spec(
    two: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The texts that it was compiled from come along, and go along again."""
    (Path.cwd().parent / "library.yaml").write_text(
        "define: {options: {small: {options: {write_buffer_size: 1MiB}}}}\n"
    )
    spec = "include: [../library.yaml]\n" + SPEC.replace("steps:", "options: [small]\nsteps:", 1)
    Path("a.yaml").write_text(spec)
    workflow.compiled.cache_clear()
    plan = planned()
    for stage in plan.stages:
        result(stage)
    file = export(capsys)
    store = two()
    Path("a.yaml").write_text(SPEC)
    assert main(["import", str(file)]) == 0
    texts = store.texts(plan.digest)
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"`stepgrid report {plan.digest}` shows them: a.yaml comes to another plan here; "
        f"what they were measured by is in {texts}"
    )
    assert sorted(str(path.relative_to(texts)) for path in texts.rglob("*.yaml")) == ["library.yaml", "one/a.yaml"]
    assert (texts / "one" / "a.yaml").read_text() == spec
    assert main(["report", plan.digest]) == 0
    assert main(["query", "--plan", plan.digest, "SELECT count(DISTINCT stage) FROM steps", "--format", "csv"]) == 0
    assert capsys.readouterr().out.endswith(f"\n{len(plan.stages)}\n")
    again = file.with_name("again.tar.gz")
    assert main(["export", plan.digest, str(again)]) == 0
    with tarfile.open(file) as one, tarfile.open(again) as other:
        assert [name for name in one.getnames() if "report/" not in name] == [
            name for name in other.getnames() if "report/" not in name
        ]


def test_the_report_goes_along_for_those_who_have_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(exporting, "_summarized", SUMMARIZED)
    with tarfile.open(export(capsys)) as tar:
        names = [name.removeprefix("content/report/") for name in tar.getnames() if "/report/" in name]
    assert {"summary.txt", "index.html", "tables/steps.parquet", "tables/environment.parquet"} <= set(names)


def test_a_bundle_of_the_first_format_is_taken(two: Callable[[], Store], capsys: Capture) -> None:
    def older(members: Members) -> None:
        info, manifest = members["export.json"]
        said = json.loads(manifest) | {"format": 1}
        gone = [name for name in said["files"] if name.startswith(("spec/", "report/"))]
        for name in gone:
            del said["files"][name], members[f"content/{name}"]
        members["export.json"] = (info, json.dumps(said).encode())

    file = rewrite(export(capsys), older)
    store, plan = two(), planned()
    assert main(["import", str(file)]) == 0
    assert "took 6 results" in capsys.readouterr().out
    assert not store.texts(plan.digest).exists()


def test_what_cannot_be_taken_here_is_said_before_it_is_unpacked(
    two: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def newer(members: Members) -> None:
        info, manifest = members["export.json"]
        members["export.json"] = (info, json.dumps({**json.loads(manifest), "format": 3}).encode())

    file = export(capsys)
    store = two()
    assert refused(rewrite(file, newer), store, capsys) == (
        "FILE is of a newer stepgrid: its format is 3, this one reads up to 2\n"
    )
    short = file.with_name("short.tar.gz")
    short.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "cannot be unpacked" in refused(short, store, capsys)
    monkeypatch.setattr(importing.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 8, 1))
    assert re.fullmatch(
        r"FILE is not imported: it takes [\d.]+ KiB, and 1 bytes are free at outputs\n", refused(file, store, capsys)
    )


def test_what_is_there_already_stays(two: Callable[[], Store], capsys: Capture) -> None:
    file = export(capsys)
    store = two()
    for _ in range(2):
        capsys.readouterr()
        assert main(["import", str(file)]) == 0
    assert "took 0 results, 0 attempts\nleft as they are here: 6 results\n" in capsys.readouterr().out
    assert all(len(store.all_results(stage.id)) == 1 for stage in planned().stages)


def test_where_a_stage_is_left_its_build_is_made(two: Callable[[], Store], capsys: Capture) -> None:
    gone = next(stage for stage in planned().stages if stage.parent)
    Store().set_aside(gone.id, Store().results(gone.id)[0])
    file = export(capsys)
    store = two()
    assert main(["import", str(file)]) == 0
    assert workflow.work(planned(), store).lacking == {gone.id, gone.build}


def test_a_summary_is_made_again_although_its_results_are_older(two: Callable[[], Store], capsys: Capture) -> None:
    file = export(capsys)
    store, plan = two(), planned()
    store.publish_plan(plan.digest, lambda folder: files.write(plan, folder))
    tables, report = store.stamps(plan.digest, "1")
    make_folder(tables.parent)
    store.stamp_tables(plan.digest, "1")
    store.stamp_report(plan.digest, "1")
    assert main(["import", str(file)]) == 0
    assert not tables.exists()
    assert not report.exists()


def test_attempts_go_along_where_they_are_asked_for(two: Callable[[], Store], capsys: Capture) -> None:
    stage = planned().stages[0].id
    write_json(Store().new_attempt(stage) / "failure.json", {"status": "failed", "message": "it died"})
    Store().new_attempt(stage)  # running
    plain, whole = export(capsys), export(capsys, "--attempts", name="y.tar.gz")
    store = two()
    assert main(["import", str(plain)]) == 0
    assert store.attempts(stage) == []
    assert main(["import", str(whole)]) == 0
    assert "took 0 results, 1 attempt\n" in capsys.readouterr().out
    assert len(store.attempts(stage)) == 1


def test_a_retraction_goes_along_and_a_redo_is_still_asked_for(two: Callable[[], Store], capsys: Capture) -> None:
    first, second = (stage for stage in planned().stages if stage.parent is None)
    retracted.retract(Store(), Store().results(first.id)[0], "a disturbance")
    file = export(capsys)
    store = two()
    result(second)
    asked.ask(store, second.id, "why not")
    assert main(["import", str(file)]) == 0
    assert store.result(first.id) is None
    note = retracted.of(store.all_results(first.id)[0])
    assert note is not None
    assert note.why == "a disturbance"
    assert asked.pending(store, second.id)


def rewrite(file: Path, change: Callable[[Members], None]) -> Path:
    with tarfile.open(file) as tar:
        members = {info.name: (info, tar.extractfile(info).read()) for info in tar}  # type: ignore[union-attr]
    change(members)
    changed = file.with_name("changed.tar.gz")
    with tarfile.open(changed, "w:gz") as tar:
        for name, (info, content) in members.items():
            info.name, info.size = name, len(content)
            tar.addfile(info, io.BytesIO(content))
    return changed


def listed(members: Members, name: str, content: bytes) -> None:
    """Added, or changed, with a manifest that says so too."""
    import hashlib

    info, manifest = members["export.json"]
    said = json.loads(manifest)
    entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "executable": False}
    said["files"][name.removeprefix("content/")] = entry
    members["export.json"] = (info, json.dumps(said).encode())
    members[name] = (tarfile.TarInfo(), content)


def refused(file: Path, store: Store, capsys: Capture) -> str:
    capsys.readouterr()
    assert main(["import", str(file)]) == 3
    assert not list(store.root.glob("results/*"))
    assert not list(store.root.glob("attempts/*"))
    return capsys.readouterr().err.replace(str(file), "FILE")


def one_of(members: Members, end: str) -> str:
    return next(name for name in members if name.startswith("content/results") and name.endswith(end))


def test_nothing_is_taken_that_is_not_what_was_exported(two: Callable[[], Store], capsys: Capture) -> None:
    file = export(capsys)
    store = two()

    def changed(members: Members) -> None:
        info, _ = members[one_of(members, "stdout")]
        members[one_of(members, "stdout")] = (info, b"OUTPUT of fillseq"[: info.size])

    def missing(members: Members) -> None:
        del members[one_of(members, "stdout")]

    def added(members: Members) -> None:
        members["content/results/s-0/x"] = (tarfile.TarInfo(), b"x")

    def beside(members: Members) -> None:
        members["other"] = (tarfile.TarInfo(), b"x")

    assert "is not what was exported: the checksum differs" in refused(rewrite(file, changed), store, capsys)
    assert refused(rewrite(file, missing), store, capsys).endswith("is missing\n")
    assert refused(rewrite(file, added), store, capsys) == (
        "FILE is not imported: it holds a file that no checksum is for, results/s-0/x\n"
    )
    assert refused(rewrite(file, beside), store, capsys) == (
        "FILE is not imported: beside its manifest it holds more than content/, or not that\n"
    )


def test_nothing_is_taken_that_results_do_not_have(two: Callable[[], Store], capsys: Capture) -> None:
    file = export(capsys)
    store = two()
    path = "s-00000000000000000000/20260101T000000.000000Z/result.json"
    cases: dict[str, tuple[Callable[[Members], str], bytes]] = {
        "FILE is not imported: results have no file builds/b-1/bin/db_bench\n": (
            lambda _: "content/builds/b-1/bin/db_bench",
            b"x",
        ),
        "FILE is not imported: its plan has no stage s-00000000000000000000\n": (
            lambda _: f"content/results/{path}",
            b"{}",
        ),
        "FILE is not imported: its plan has no build b-1\n": (lambda _: "content/builds/b-1/build.json", b"{}"),
        "FILE is not imported: its plan cannot be read, or is not the one that it names\n": (
            lambda _: "content/plan/plan.json",
            b"{}",
        ),
    }
    for said, (name, content) in cases.items():
        assert refused(rewrite(file, lambda m, n=name, c=content: listed(m, n(m), c)), store, capsys) == said  # type: ignore[misc]
    broken = rewrite(file, lambda members: listed(members, one_of(members, "result.json"), b'{"status": "done"}'))
    assert " is broken: result.json is of stage None, not s-" in refused(broken, store, capsys)


def test_what_it_is_is_told_by_its_content(two: Callable[[], Store], tmp_path: Path, capsys: Capture) -> None:
    store = two()
    file = tmp_path / "x.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        info = tarfile.TarInfo("export.json")
        info.size = 2
        tar.addfile(info, io.BytesIO(b"{}"))
    assert refused(file, store, capsys) == (
        "FILE is no build that this version can import: its export.json says something else\n"
    )
    file.write_text("no archive")
    assert "cannot be unpacked: a whole tar" in refused(file, store, capsys)
    assert main(["import", "nowhere.tar.gz"]) == 2
    assert capsys.readouterr().err == "there is no file nowhere.tar.gz\n"


def test_what_cannot_be_exported(one: Path, capsys: Capture) -> None:
    (one / "x.tar.gz").touch()
    for words, status, said in (
        (["x.tar.gz"], 2, "x.tar.gz is there already: name another file, or remove it\n"),
        (["x.zip"], 3, "x.zip must end with .tar.gz or .tar.zst: that says how it is compressed\n"),
        (["y.tar.gz", "--set", "params.keys=1M"], 3, "a.yaml has no result yet: there is nothing to export\n"),
    ):
        assert main(["export", "a.yaml", *words]) == status
        assert capsys.readouterr().err == said
