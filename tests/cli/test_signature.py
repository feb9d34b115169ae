"""Bundles that are signed by a key of ssh, and a site file that takes no others."""

import re
import subprocess
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store.store import Store
from tests.cli import bundles
from tests.cli.test_import import listed
from tests.needs import needs

pytestmark = needs("ssh-keygen")


def key(folder, name):
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)], check=True)
    return path


@pytest.fixture
def alice(tmp_path, monkeypatch):
    """Her key; the site file takes what she signed."""
    found = key(tmp_path, "alice")
    (tmp_path / "signers").write_text(f"alice@lab {found.with_suffix('.pub').read_text()}")
    (tmp_path / "site.yaml").write_text("signers: signers\n")
    return found


def site(folder, monkeypatch):
    monkeypatch.setenv("STEPGRID_SITE", str(folder / "site.yaml"))


def refused(file, capsys):
    assert main(["import", str(file)]) == 3
    return capsys.readouterr().err.strip().removeprefix(f"{file} is not imported: ")


def test_what_she_signed(alice, one, two, monkeypatch, capsys):
    file = one.parent / "x.tar.gz"
    assert main(["export", "a.yaml", str(file), "--sign", str(alice)]) == 0
    assert f"  signed: {file}.sig is beside it\n" in capsys.readouterr().out
    two()
    site(one.parent, monkeypatch)
    assert main(["import", str(file)]) == 0
    assert "\nsigned by alice@lab\n" in capsys.readouterr().out


def test_a_report_says_who_measured(alice, one, two, monkeypatch, capsys):
    file = one.parent / "x.tar.gz"
    assert main(["export", "a.yaml", str(file), "--sign", str(alice)]) == 0
    two()
    site(one.parent, monkeypatch)
    assert main(["import", str(file)]) == 0
    said = reported(capsys)
    assert re.search(r"\n  measured +nothing yet; imported: 6 results signed by alice@lab\n", said)
    page = next(Path("outputs/summary").glob("*/index.html")).read_text()
    assert "<dt>Measured</dt><dd>nothing yet; imported: 6 results signed by alice@lab</dd>" in page


def test_a_report_says_that_nobody_signed(one, two, capsys):
    """Whatever the bundle says of itself."""
    result = Store().results(bundles.planned().stages[0].id)[0]
    note = f"content/results/{result.parent.name}/{result.name}/imported.json"
    file = bundles.rewrite(bundles.export(capsys), lambda members: listed(members, note, b'{"signer": "alice@lab"}'))
    two()
    assert main(["import", str(file)]) == 0
    assert "; imported: 6 results without a verified signature\n" in reported(capsys)


def reported(capsys):
    capsys.readouterr()
    assert main(["report", "a.yaml"]) == 0
    return next(Path("outputs/summary").glob("*/summary.txt")).read_text()


def test_what_nobody_or_somebody_else_signed_or_what_changed_since(alice, one, two, monkeypatch, capsys):
    file = bundles.export(capsys)
    two()
    site(one.parent, monkeypatch)
    assert refused(file, capsys) == "there is no x.tar.gz.sig, and the site file names `signers`"
    mallory = key(one.parent, "mallory")
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "stepgrid"]
    subprocess.run([*sign, "-f", str(mallory), str(file)], check=True)
    assert refused(file, capsys) == "x.tar.gz.sig is of none of the `signers` of the site file"
    file.with_name("x.tar.gz.sig").unlink()
    subprocess.run([*sign, "-f", str(alice), str(file)], check=True)
    file.write_bytes(file.read_bytes() + b"\0")
    assert refused(file, capsys) == "it is not what alice@lab signed"
    file.with_name("x.tar.gz.sig").unlink()
    subprocess.run([*sign[:-1], "another purpose", "-f", str(alice), str(file)], check=True)
    assert refused(file, capsys) == "it is not what alice@lab signed"
