"""The site file: what it may say, where it is found, and what is said about a wrong one."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from stepgrid.language import site, site_file
from stepgrid.language.problems import Problems, SpecError, _source, format_problems
from stepgrid.language.site import choose_site_file, current_site, read_site
from stepgrid.model.site import JobRequest, Site, SiteServer, Slurm
from stepgrid_inspect import schema
from tests.cases import rows

ROOT = Path(__file__).resolve().parents[3]
WHOLE = """\
# yaml-language-server: $schema=specs/site.schema.json
data: fast
device: nvme0n1
allow_other_hardware: true
tools: {git: bin/git, cmake: cmake3}
mirrors:
  https://github.com/facebook/rocksdb.git: mirrors/rocksdb.git
  https://github.com/: ssh://mirror/github
noise: fix
measured_by: storage team
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(site_file, "DEVICES", tmp_path / "devices")
    for name in ("devices/nvme0n1", "devices/sda", "fast", "bin", "mirrors/rocksdb.git"):
        Path(name).mkdir(parents=True)
    Path("bin/git").touch(0o755)
    _source.cache_clear()
    return tmp_path


def complaints(text):
    Path("site.yaml").write_text(text, encoding="utf-8")
    problems = Problems()
    read_site("site.yaml", problems)
    return format_problems(problems.items)


def test_all_that_it_may_say(folder):
    assert complaints(WHOLE) == ""
    assert read_site("site.yaml", Problems()) == Site(
        path="site.yaml",
        data=str(folder / "fast"),
        device="nvme0n1",
        allow_other_hardware=True,
        tools={"git": str(folder / "bin/git"), "cmake": "cmake3"},
        mirrors={
            "https://github.com/facebook/rocksdb.git": str(folder / "mirrors/rocksdb.git"),
            "https://github.com/": "ssh://mirror/github",
        },
        noise="fix",
        measured_by="storage team",
    )


def test_an_editor_is_told_the_same():
    running = (ROOT / "docs/reference/running.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml site\.yaml\n(.*?)^```", running, re.MULTILINE | re.DOTALL)
    judge = Draft7Validator(json.loads(schema.schema_text("site", ROOT / "specs/library")))
    plain = YAML(typ="safe", pure=True)
    assert [list(judge.iter_errors(plain.load(text))) for text in (WHOLE, example)] == [[], []]
    assert {error.message for error in judge.iter_errors(plain.load(WRONG))} == {
        "Additional properties are not allowed ('allow_other_hardwear' was unexpected)",
        "None is not of type 'string', 'number', 'boolean'",
    }
    assert set(plain.load(example)) == set(judge.schema["properties"]), "the page shows every key"


def test_a_program_that_it_does_not_name_is_found_on_path():
    found = Site(tools={"git": "/opt/git"})
    assert (found.tool("git"), found.tool("mvn")) == ("/opt/git", "mvn")


def test_a_mirror_of_the_url_itself_then_of_its_longest_beginning():
    found = Site(mirrors={"https://a/x.git": "/x", "https://a/": "/all", "https://a/b/": "ssh://m/b/"})
    urls = ["https://a/x.git", "https://a/y.git", "https://a/b/z.git", "https://a", "https://c/x.git"]
    assert [found.mirror(url) for url in urls] == ["/x", "/all/y.git", "ssh://m/b/z.git", "https://a", urls[-1]]


WRONG = """\
data: /nowhere
device: nvme1n1
allow_other_hardwear: true
tools: {git: bin/gti, mvn: }
mirrors: {rocksdb: /no/mirror}
"""


def test_everything_that_is_wrong_is_said_at_once(golden):
    golden(complaints(WRONG).replace(str(Path.cwd()), "{folder}"))


SERVERS = """\
servers:
  prod: {host: db1, port: 3307, user: bench, password_file: word, database: bench}
  near: {socket: run/mysqld.sock, user: 007, password: 0123, database: bench}
"""


def test_servers_that_already_run(folder):
    Path("word").write_text("secret\n")
    assert complaints(SERVERS) == ""
    found = read_site("site.yaml", Problems()).servers
    assert found == {
        "prod": SiteServer("bench", "bench", host="db1", port=3307, password_file=str(folder / "word")),
        "near": SiteServer("007", "bench", socket=str(folder / "run/mysqld.sock"), password="0123"),
    }
    assert [each.secret() for each in found.values()] == ["secret", "0123"]
    assert [each.address for each in found.values()] == ["db1:3307", str(folder / "run/mysqld.sock")]


SLURM = """\
slurm:
  machines:
    dell32:
      {nodes: [n1, n2], partition: bench, constraint: nvme, account: lab, qos: high, time_limit: 12h, memory: 60GiB}
  builds: {cpus: 16}
"""


def test_nodes_of_a_cluster():
    assert complaints(SLURM) == ""
    found = read_site("site.yaml", Problems()).slurm
    nodes = JobRequest(("n1", "n2"), "bench", "nvme", "lab", "high", 43200.0, memory=60 << 30)
    assert found == Slurm({"dell32": nodes}, JobRequest(cpus=16))
    assert (found.job_request("dell32", True), found.job_request("h-1", False), found.job_request("here", True)) == (
        nodes,
        None,
        None,
    )
    assert Slurm({"here": nodes}).job_request("h-1", declared=False) == nodes


@pytest.mark.parametrize(("text", "said"), rows(__file__, "values_of_another_kind"))
def test_values_of_another_kind(text, said):
    assert said in complaints(f"{text}\n")


def test_names_that_no_file_can_have():
    name = "x" * 300
    text = (
        f"data: {name}\ndevice: {name}\nsigners: {name}\ntools: {{git: a/{name}}}\nmirrors: {{'https://a/': {name}}}\n"
    )
    found = re.findall(r"^site.yaml:(\d+:\d+): error", complaints(text), re.MULTILINE)
    assert found == ["1:7", "2:9", "3:10", "4:14", "5:25"]


@pytest.mark.parametrize(
    "value",
    [
        "https://[s3cret/x", '"https://host:99999/s3cret"', "https:///s3cret", "hooks.slack.com/s3cret", "~s3cret/x",
        "'http://h/s3 cret'", "https://user:s3cret@host/x", "ftp://host/s3cret", f"s3cret{'x' * 300}", '"s3cret\\0"',
        "[s3cret]",
    ],
)  # fmt: skip
def test_the_address_of_a_webhook_is_shown_nowhere(value):
    said = complaints(f"notify: {value}\n")
    assert said.startswith("site.yaml:1:9: error[")
    assert "s3" not in said


def test_the_given_file_then_that_of_the_environment_then_the_default(folder, monkeypatch):
    monkeypatch.delenv(site.VARIABLE)
    assert choose_site_file(None) is None
    Path("site.yaml").touch()
    assert choose_site_file(None) == str(folder / "site.yaml")
    monkeypatch.setenv(site.VARIABLE, "/other.yaml")
    assert choose_site_file(None) == "/other.yaml"
    assert choose_site_file("mine.yaml") == str(folder / "mine.yaml")
    monkeypatch.setenv(site.VARIABLE, "")
    assert choose_site_file(None) is None
    assert choose_site_file("") is None


def test_a_job_reads_the_one_of_its_environment_as_it_is_now(folder, monkeypatch):
    assert current_site() == Site()
    Path("site.yaml").write_text("data: fast\n")
    monkeypatch.setenv(site.VARIABLE, str(folder / "site.yaml"))
    assert current_site().data == str(folder / "fast")
    Path("site.yaml").write_text("data: slow\n")
    with pytest.raises(SpecError, match="1:7: `data`: there is no folder"):
        current_site()
    Path("site.yaml").unlink()
    with pytest.raises(FileNotFoundError):
        current_site()
