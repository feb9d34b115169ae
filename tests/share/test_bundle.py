"""A bundle whose manifest is nested without end, or which unpacks to more than its manifest says."""

import io
import json
import tarfile

import pytest

from stepgrid.build.error import BuildError
from stepgrid.host.facts import pseudonym
from stepgrid.store.store import Store
from stepgrid_share import bundle, results
from stepgrid_share.results import hide_host

MANIFEST = {"kind": "results", "format": 3, "files": {"plan/plan.jsonl": {"bytes": 2}}}


def made(folder, manifest, *more):
    with tarfile.open(folder / "x.tar.gz", "w:gz") as tar:
        for name, content in ((bundle.MANIFEST, manifest.encode()), *more):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return folder / "x.tar.gz"


def refused(file):
    with pytest.raises(BuildError) as caught:
        results.import_results(Store(file.parent / "outputs"), file)
    return str(caught.value).replace(f"{file}", "FILE")


@pytest.mark.parametrize("text", ["[" * 200_000, '{"kind": ' * 200_000, '{"format": ' + "9" * 5000 + "}"])
def test_a_manifest_that_python_cannot_read(text, tmp_path):
    said = "FILE is no exported result: a record in it cannot be read"
    assert refused(made(tmp_path, text)) == said


@pytest.mark.parametrize("size", [-1, "1", 2**60, 10**400])
def test_a_size_that_no_file_has(size, tmp_path):
    said = "FILE is no exported result: a record in it cannot be read"
    assert refused(made(tmp_path, json.dumps({**MANIFEST, "files": {"a": {"bytes": size}}}))) == said


def test_more_than_the_manifest_says(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST_MANIFEST", 1 << 20)
    file = made(tmp_path, json.dumps(MANIFEST), ("content/plan/plan.jsonl", bytes(4 << 20)))
    said = "x.tar.gz holds more than an archive of its size does: nothing more is unpacked"
    assert refused(file) == said
    assert not [path for path in (tmp_path / "outputs").rglob("*") if path.is_file() and path.stat().st_size > 1 << 20]


def test_nodes_of_a_cluster_and_addresses_of_clients_elsewhere_are_not_exported(tmp_path):
    folder, kept = "results/s-1/20260101T000000.000000Z", "10.0.0.12 and 10.0.0.1.5"
    address, name = "10.0.0.1", pseudonym("10.0.0.1")
    attempt = {"hostname": "n1.lab", "cluster_node": "n1", "host": {"hostname": "n1.lab", "server_address": address}}
    texts = {"attempt.json": json.dumps(attempt), "server/my.cnf": f"bind_address = {address}\n"}
    texts |= {"steps/0-a/stderr": f"no {address}:3306. {kept}", "index.html": f"<p>{address}</p>"}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    names = {path: "report/index.html" if path == "index.html" else f"{folder}/{path}" for path in texts}
    copies = hide_host({names[path]: (tmp_path, tmp_path / path) for path in texts}, tmp_path / "copies")
    hidden = {path: copies[names[path]][1].read_text() for path in texts}
    host = {"hostname": pseudonym("n1.lab"), "server_address": name}
    node = {"hostname": pseudonym("n1.lab"), "cluster_node": pseudonym("n1"), "host": host}
    assert json.loads(hidden.pop("attempt.json")) == node
    assert [*hidden.values()] == [f"bind_address = {name}\n", f"no {name}:3306. {kept}", f"<p>{name}</p>"]


@pytest.mark.parametrize(
    ("kind", "alias"),
    [("attempts", f"{pseudonym('me@bench2')}: {pseudonym('bench2')}"), ("results", "me@bench2: bench2")],
)
def test_the_alias_of_the_clients_machine_is_not_in_messages_of_exported_attempts(kind, alias, tmp_path):
    texts = {
        "attempt.json": '{"host": {"client_alias": "me@bench2"}}',
        "failure.json": "no route to me@bench2: bench2, bench22",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = f"{kind}/s-1/20260101T000000.000000Z"
    copies = hide_host({f"{folder}/{name}": (tmp_path, tmp_path / name) for name in texts}, tmp_path / "copies")
    hidden = {name: copies.get(f"{folder}/{name}", (tmp_path, tmp_path / name))[1].read_text() for name in texts}
    assert json.loads(hidden["attempt.json"])["host"] == {"client_alias": pseudonym("me@bench2")}
    assert hidden["failure.json"] == f"no route to {alias}, bench22"  # in a result a short one could be any word
