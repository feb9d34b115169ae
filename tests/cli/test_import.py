"""stepgrid import: nothing is let in that is not what was exported."""

import io
import json
import re
import shutil
import tarfile

import pytest

from stepgrid.cli import main
from tests.cli.bundles import export, planned, rewrite, sealed

pytestmark = pytest.mark.usefixtures("one")


def test_what_cannot_be_taken_here_is_said_before_it_is_unpacked(two, monkeypatch, capsys):
    def newer(members):
        info, manifest = members["export.json"]
        members["export.json"] = (info, json.dumps({**json.loads(manifest), "format": 4}).encode())

    file = export(capsys)
    store = two()
    assert refused(rewrite(file, newer), store, capsys) == (
        "FILE is of a newer stepgrid: its format is 4, this one reads 3\n"
    )
    short = file.with_name("short.tar.gz")
    short.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "cannot be unpacked" in refused(short, store, capsys)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 8, 1))
    assert re.fullmatch(
        r"FILE is not imported: it takes [\d.]+ KiB, and 1 B are free at outputs\n", refused(file, store, capsys)
    )


def listed(members, name, content):
    """Added, or changed, with a manifest that says so too."""
    import hashlib

    info, manifest = members["export.json"]
    said = json.loads(manifest)
    entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "executable": False}
    said["files"][name.removeprefix("content/")] = entry
    members["export.json"] = (info, json.dumps(said).encode())
    members[name] = (tarfile.TarInfo(), content)


def refused(file, store, capsys):
    capsys.readouterr()
    assert main(["import", str(file)]) == 3
    assert not list(store.root.glob("results/*"))
    assert not list(store.root.glob("attempts/*"))
    return capsys.readouterr().err.replace(str(file), "FILE")


def one_of(members, end):
    return next(name for name in members if name.startswith("content/results") and name.endswith(end))


def test_nothing_is_taken_that_is_not_what_was_exported(two, capsys):
    file = export(capsys)
    store = two()

    def changed(members):
        info, _ = members[one_of(members, "stdout")]
        members[one_of(members, "stdout")] = (info, b"OUTPUT of fillseq"[: info.size])

    def missing(members):
        del members[one_of(members, "stdout")]

    def added(members):
        members["content/results/s-0/x"] = (tarfile.TarInfo(), b"x")

    def beside(members):
        members["other"] = (tarfile.TarInfo(), b"x")

    assert "is not what was exported: the checksum differs" in refused(rewrite(file, changed), store, capsys)
    assert refused(rewrite(file, missing), store, capsys).endswith("is missing\n")
    assert refused(rewrite(file, added), store, capsys) == (
        "FILE is not imported: it holds a file that no checksum is for, results/s-0/x\n"
    )
    assert refused(rewrite(file, beside), store, capsys) == (
        "FILE is not imported: beside its manifest it holds more than content/, or not that\n"
    )


def test_nothing_is_taken_that_results_do_not_have(two, capsys):
    file = export(capsys)
    store = two()
    path = "s-00000000000000000000/20260101T000000.000000Z/result.json"
    cases = {
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
            lambda _: "content/plan/plan.jsonl",
            b"{}",
        ),
    }
    for said, (name, content) in cases.items():
        assert refused(rewrite(file, lambda m, n=name, c=content: listed(m, n(m), c)), store, capsys) == said
    broken = rewrite(file, lambda members: listed(members, one_of(members, "result.json"), b'{"status": "done"}'))
    assert " is broken: result.json cannot be read (Object missing required field `stage`)" in refused(
        broken, store, capsys
    )


def test_what_it_is_is_told_by_its_content(two, tmp_path, capsys):
    store = two()
    file = tmp_path / "x.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        info = tarfile.TarInfo("export.json")
        info.size = 13
        tar.addfile(info, io.BytesIO(b'{"format": 9}'))
    assert refused(file, store, capsys) == (
        "FILE is no build that this version can import: its export.json says something else\n"
    )
    file.write_text("no archive")
    assert "cannot be unpacked: a whole tar" in refused(file, store, capsys)
    assert main(["import", "nowhere.tar.gz"]) == 2
    assert capsys.readouterr().err == "there is no file nowhere.tar.gz\n"


def test_checksums_travel_and_are_checked(two, capsys):
    """Those of a result's own record, whatever the archive says of its files."""
    sealed(planned())
    file = export(capsys)
    store = two()
    edited = rewrite(file, lambda members: listed(members, one_of(members, "stdout"), b"another output"))
    said = r"FILE is not imported: its result s-\w+/\w+\.\w+ is broken: `steps/\S+/stdout` has 14 bytes, "
    assert re.match(said, refused(edited, store, capsys))
    assert main(["import", str(file)]) == 0
    results = [result for stage in planned().stages for result in store.results(stage.id)]
    assert all("files" in json.loads((result / "result.json").read_text()) for result in results)


def test_a_result_of_a_time_that_lies_ahead(two, capsys):
    """It would count for ever, and no other could follow it."""
    last = "99991231T235959.999999Z"

    def renamed(members):
        info, manifest = members["export.json"]
        (old, *_) = re.findall(r"\d{8}T\d{6}\.\d{6}Z", one_of(members, "result.json"))
        for name in [name for name in members if old in name]:
            members[name.replace(old, last)] = members.pop(name)
        members["export.json"] = (info, manifest.replace(old.encode(), last.encode()))

    file = rewrite(export(capsys), renamed)
    said = refused(file, two(), capsys)
    assert re.sub(r"s-\w+", "s-ID", said) == (
        f"FILE is not imported: the result s-ID/{last} lies more than a day in the future: "
        "the clock of its host was wrong\n"
    )
