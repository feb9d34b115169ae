"""stepgrid store push and pull: several stores meet in one folder, and nothing is lost on the way."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host.files import sha256
from stepgrid.store import plans
from stepgrid.store.paths import IMPORTED
from stepgrid.store.store import Store
from tests.cli.bundles import planned, result
from tests.cli.test_signature import alice as alice
from tests.cli.test_signature import site
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]


def contents(store):
    """Every file of every result; figures are parsed again where they come to."""
    files = (path for path in (store.root / "results").rglob("*") if path.is_file())
    return {
        str(path.relative_to(store.root)): sha256(path)
        for path in files
        if not path.match("figures.*") and path.name != IMPORTED
    }


@pytest.fixture
def shared(one):
    """One checkout has pushed what it has."""
    plans.publish(Store(), planned())
    assert main(["store", "push", "../shared", "--host"]) == 0
    return one.parent / "shared"


def test_what_one_pushes_another_pulls(one, two, capsys):
    shared = one.parent / "shared"
    plans.publish(Store(), planned())
    assert main(["store", "push", "../shared", "--host"]) == 0
    assert re.fullmatch(r"pushed 6 results in 1 bundle \([\d.]+ KiB\) to \.\./shared\n", capsys.readouterr().out)
    before = contents(Store())
    store = two()
    assert main(["store", "pull", "../shared"]) == 0
    assert re.fullmatch(r"pulled 6 results in 1 bundle \([\d.]+ KiB\) from \.\./shared\n", capsys.readouterr().out)
    assert contents(store) == before
    assert main(["store", "pull", str(shared)]) == 0
    assert capsys.readouterr().out == f"pulled 0 results in 0 bundles (0 B) from {shared}; 6 results known already\n"
    assert store.attempts("import") == []
    assert not (store.root / "cache" / "transfer").exists()


def test_a_bundle_that_was_damaged_is_left_and_the_others_are_taken(shared, two, monkeypatch, capsys):
    monkeypatch.chdir(shared.parent / "one")
    new = result(planned().stages[0])
    assert main(["store", "push", "../shared", "--host"]) == 0
    (bundle,) = [path for path in (shared / "bundles").iterdir() if new.name not in index(shared, path)]
    bundle.write_bytes(bundle.read_bytes()[:-100] + bytes(100))
    store = two()
    capsys.readouterr()
    assert main(["store", "pull", "../shared"]) == 3
    digest = bundle.name.removesuffix(".tar.gz")
    assert capsys.readouterr().err == f"the bundle {digest} is damaged: its checksum differs\n"
    assert [folder.name for folder in store.results(planned().stages[0].id)] == [new.name]
    bundle.unlink()
    assert main(["store", "pull", "../shared"]) == 3
    assert capsys.readouterr().err == f"the bundle {digest} is missing\n"


def index(shared, bundle):
    return (shared / "index" / bundle.name.replace(".tar.gz", ".json")).read_text()


RESULT = "s-00000000000000000000/20200101T000000.000000Z"
NO_DIGEST = "its `bundle` is not the digest that the file is named by"


def entry(name, **more):
    return json.dumps({"format": 1, "bundle": name, "results": [RESULT], **more})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (entry("/home/me/thesis"), NO_DIGEST),
        (entry("../../thesis"), NO_DIGEST),
        (entry("b" * 64), NO_DIGEST),
        (entry("a\0b"), NO_DIGEST),
        (entry("a" * 300), NO_DIGEST),
        (json.dumps({"format": 1, "results": [RESULT]}), NO_DIGEST),
        (entry("a" * 64, results=[1]), "Expected `str`, got `int` - at `$.results[0]`"),
        (entry("a" * 64, results=[[RESULT]]), "Expected `str`, got `array` - at `$.results[0]`"),
        (entry("a" * 64, results=["s-0/../../x"]), "'s-0/../../x' is no name of a result"),
        (entry("a" * 64, results=[]), "it names no `results`"),
        (
            entry("a" * 64, results=["s-0/99991231T235959.999999Z"]),
            "the result s-0/99991231T235959.999999Z lies more than a day in the future: "
            "the clock of its host was wrong",
        ),
        ("[" * 200_000, "Expected `object`, got `array`"),
        ("[]", "Expected `object`, got `array`"),
    ],
)
def test_an_entry_that_is_none_is_skipped_and_the_others_are_taken(text, fault, shared, two, capsys):
    thesis = shared.parent / "thesis.tar.gz"
    thesis.write_text("years of work")
    text = text.replace("/home/me/thesis", str(thesis).removesuffix(".tar.gz"))
    (shared / "index" / f"{'a' * 64}.json").write_text(text)
    store = two()
    capsys.readouterr()
    assert main(["store", "pull", "../shared"]) == 3
    skipped = f"index/{'a' * 64}.json is skipped: it is no entry of an index ({fault})\n"
    assert capsys.readouterr().err == skipped
    assert thesis.read_text() == "years of work"
    assert len(list(store.root.glob("results/*/*"))) == 6


@pytest.mark.parametrize("fault", ["lost", "damaged", "claimed"])
def test_a_push_mends_what_was_lost(fault, shared, two, monkeypatch, capsys):
    (bundle,) = (shared / "bundles").iterdir()
    if fault == "lost":
        bundle.unlink()
    elif fault == "damaged":
        bundle.write_bytes(b"nothing of use")
    else:  # the bundle is what its name says, and holds nothing that its entry names
        (shared / "bundles" / "empty").write_bytes(b"")
        false = sha256(shared / "bundles" / "empty")
        (shared / "bundles" / "empty").rename(shared / "bundles" / f"{false}.tar.gz")
        names = json.loads(index(shared, bundle))["results"]
        (shared / "index" / bundle.name.replace(".tar.gz", ".json")).unlink()
        (shared / "index" / f"{false}.json").write_text(entry(false, results=names))
    capsys.readouterr()
    assert main(["store", "push", "../shared", "--host"]) == 0
    assert capsys.readouterr().out.startswith("pushed 6 results in 1 bundle ")
    before, store = contents(Store()), two()
    assert main(["store", "pull", "../shared"]) == 0
    assert contents(store) == before


@needs("ssh-keygen")
def test_a_site_that_names_signers_takes_what_they_signed(alice, one, two, monkeypatch, capsys):
    plans.publish(Store(), planned())
    assert main(["store", "push", "../signed", "--sign", str(alice)]) == 0
    assert main(["store", "push", "../unsigned"]) == 0
    store = two()
    site(one.parent, monkeypatch)
    capsys.readouterr()
    assert main(["store", "pull", "../unsigned"]) == 3
    assert "and the site file names `signers`\n" in capsys.readouterr().err
    assert contents(store) == {}
    (bundle,) = (one.parent / "unsigned" / "bundles").iterdir()
    bundle.with_name(f"{bundle.name}.sig").write_text("no signature")
    bundle.unlink()  # it is not even asked for
    assert main(["store", "pull", "../unsigned"]) == 3
    assert capsys.readouterr().err.endswith(".sig is of none of the `signers` of the site file\n")
    assert main(["store", "pull", "../signed"]) == 0
    assert len(contents(store)) == 6 * 3


def test_a_url_without_its_package(one, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert main(["store", "pull", "s3://bucket/folder"]) == 3
    assert capsys.readouterr().err == (
        "s3://bucket/folder: that needs fsspec and a package for it: pip install 'stepgrid[s3]'\n"
    )


KILLED = """\
import os, signal
from stepgrid.cli import main
from stepgrid_share import shared_folder
from stepgrid_share.shared_folder import LocalFolder

def killing(call):
    def counted(*args):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        call(*args)
    return counted

left = [{calls}]
shared_folder.MOST_RESULTS = 1
moving = {{"push": "put", "pull": "get"}}["{verb}"]  # a push also reads what it pushed before
setattr(LocalFolder, moving, killing(getattr(LocalFolder, moving)))
main(["store", "{verb}", "../shared", *["--host"][:"{verb}" == "push"]])
"""


@pytest.mark.parametrize(
    ("verb", "calls"),
    [
        ("push", 3),
        pytest.param("push", 4, marks=pytest.mark.nightly),
        pytest.param("pull", 2, marks=pytest.mark.nightly),
        ("pull", 5),
    ],
)
def test_a_kill_between_any_two_files_loses_nothing(verb, calls, one, two):
    """The same command goes on, until it is through."""
    plans.publish(Store(), planned())
    before, kills = contents(Store()), 0
    if verb == "pull":
        code = "from stepgrid_share import shared_folder; shared_folder.MOST_RESULTS = 1\n"
        code += "from stepgrid.cli import main\n"
        assert interrupted(f"{code}main(['store', 'push', '../shared', '--host'])") == 0
        two()
    while interrupted(KILLED.format(verb=verb, calls=calls)) == -signal.SIGKILL:
        kills += 1
    store = Store() if verb == "pull" else two()
    assert main(["store", "pull", "../shared"]) == 0
    assert contents(store) == before
    assert kills >= 1
    assert not (store.root / "cache" / "transfer").exists()


def interrupted(code):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False).returncode
