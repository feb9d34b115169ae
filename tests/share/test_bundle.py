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


def test_addresses_of_clients_elsewhere_are_not_exported(tmp_path):
    folder, kept = "results/s-1/20260101T000000.000000Z", "10.0.0.12 and 10.0.0.1.5"
    address, texts = "10.0.0.1", {"attempt.json": '{"host": {"server_address": "10.0.0.1"}}'}
    texts |= {"server/my.cnf": f"bind_address = {address}\n", "steps/0-a/stderr": f"no {address}:3306. {kept}"}
    contents = {f"{folder}/{name}": (tmp_path, tmp_path / name) for name in texts}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "index.html").write_text(f"<p>{address}</p>")
    contents["report/index.html"] = (tmp_path, tmp_path / "index.html")
    copies = {name: path.read_text() for name, (_, path) in hide_host(contents, tmp_path / "copies").items()}
    name = pseudonym(address)
    assert copies.pop(f"{folder}/steps/0-a/stderr") == f"no {name}:3306. {kept}"
    assert copies.keys() == {f"{folder}/attempt.json", f"{folder}/server/my.cnf", "report/index.html"}
    assert all(name in text and address not in text for text in copies.values())


def test_the_node_of_a_cluster_is_not_named(tmp_path):
    record = tmp_path / "attempt.json"
    record.write_text(json.dumps({"hostname": "n1.lab", "cluster_node": "n1", "host": {"hostname": "n1.lab"}}))
    name = "results/s-1/20260101T000000.000000Z/attempt.json"
    made = hide_host({name: (tmp_path, record)}, tmp_path / "copies")[name][1]
    assert json.loads(made.read_text()) == {
        "hostname": pseudonym("n1.lab"),
        "cluster_node": pseudonym("n1"),
        "host": {"hostname": pseudonym("n1.lab")},
    }
