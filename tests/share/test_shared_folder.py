"""Shared folders: of the first version, those that fsspec reaches, and an S3 bucket of a server on this machine."""

from pathlib import Path

import pytest

from stepgrid import pipeline
from stepgrid.build.error import BuildError
from stepgrid.host.files import write_json
from stepgrid.plan import plan_file
from stepgrid.store import plans
from stepgrid.store.paths import UNDONE
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store, SummaryFiles
from stepgrid_share.shared_folder import FsspecFolder, pull, push, remote_folder

FIRST_VERSION = Path(__file__).parent / "first_version"  # pushed by 0.1.0: 3 results, a retraction, an undone one
NEEDS_FSSPEC = "fsspec is not installed: pip install 'stepgrid[s3]'"


def test_a_folder_of_the_first_version_is_pulled_and_reported(tmp_path, monkeypatch):
    """Whatever 0.1.0 wrote is read by all later versions: plan, build, results, retractions."""
    monkeypatch.chdir(tmp_path)
    store = Store()
    pulled = pull(store, remote_folder(str(FIRST_VERSION)))
    assert (pulled.results, pulled.retractions, pulled.faults) == (3, 0, []), "retracted results bring their notes"
    (stored,) = plans.stored_plans(store)
    status = StatusReader(store, plan_file.read(stored.folder)).read()
    assert [node.status for node in status.nodes.values()] == ["missing", "done", "done", "missing"], "build, stages"
    assert status.stages[-1].reason.startswith("its result was retracted by me, ")
    assert (pipeline.collect(stored.digest, is_partial=True), pipeline.summarize(stored.digest, is_partial=True)) == (
        0,
        0,
    )
    assert "1 fresh load · (any)" in SummaryFiles.of(store, stored.digest).text.read_text()
    assert push(store, remote_folder(str(FIRST_VERSION)), None).bundles == 0


def test_a_note_of_a_bundle_names_no_file_elsewhere(tmp_path):
    """What a hostile bundle says was undone is no path."""
    store = Store(tmp_path / "outputs")
    pull(store, remote_folder(str(FIRST_VERSION)))
    for result in store.root.glob("results/*/*"):
        write_json(result / UNDONE, {"retractions": ["../../../thesis"]})
    assert push(store, remote_folder(str(tmp_path / "shared")), None).results == 3
    assert not [*tmp_path.rglob("thesis*")]


@pytest.fixture
def bucket(monkeypatch):
    fsspec = pytest.importorskip("fsspec", reason=NEEDS_FSSPEC)
    pytest.importorskip("s3fs", reason="s3fs is not installed: pip install 'stepgrid[s3]'")
    server = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    running = server.ThreadedMotoServer(port=0)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    fsspec.filesystem("s3", use_listings_cache=False).mkdir("lab")
    yield "s3://lab/results"
    running.stop()


def holds_what_was_put(remote, folder):
    (folder / "file").write_bytes(bytes(range(256)) * 100)
    assert remote.names("bundles") == []
    remote.put(folder / "file", "bundles/b.tar.gz")
    remote.put(folder / "file", "bundles/a.tar.gz")
    remote.put(folder / "file", "index/a.json")
    assert remote.names("bundles") == ["bundles/a.tar.gz", "bundles/b.tar.gz"]
    assert remote.read("index/a.json") == (folder / "file").read_bytes()
    remote.get("bundles/b.tar.gz", folder / "got")
    assert (folder / "got").read_bytes() == (folder / "file").read_bytes()
    (folder / "file").write_text("another")
    remote.put(folder / "file", "index/a.json")
    assert remote.read("index/a.json") == b"another"


def test_a_folder_in_memory(tmp_path):
    pytest.importorskip("fsspec", reason=NEEDS_FSSPEC)
    holds_what_was_put(FsspecFolder("memory://lab/results"), tmp_path)


def test_a_bucket(bucket, tmp_path):
    holds_what_was_put(remote_folder(bucket), tmp_path)
    assert remote_folder(bucket).names("index") == ["index/a.json"]


def test_a_path(tmp_path):
    holds_what_was_put(remote_folder(str(tmp_path / "shared")), tmp_path)


def test_what_is_not_there_is_said_with_the_url():
    pytest.importorskip("fsspec", reason=NEEDS_FSSPEC)
    with pytest.raises(BuildError, match=r"^memory://nowhere: FileNotFoundError: "):
        FsspecFolder("memory://nowhere").read("index/a.json")
    with pytest.raises(BuildError, match=r"^no-such-thing://x: ValueError: Protocol not known: no-such-thing$"):
        remote_folder("no-such-thing://x")
