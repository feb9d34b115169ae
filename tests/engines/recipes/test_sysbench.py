"""A tree that is configured, made and installed as sysbench is, of scripts instead of programs."""

import subprocess

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.build.record import absolute
from stepgrid.model.site import Site
from stepgrid_databases.engines.recipes.sysbench import SysbenchConfigure
from tests.build.ordering import order, recipe_of

AUTOTOOLS = dict.fromkeys(("cc", "c++", "autoreconf", "aclocal", "libtoolize", "pkg-config"), "true")
CONFIGURE = """\
#!/bin/sh
printf '%s\\n' "$@" > arguments
cat > Makefile <<'END'
all:
	echo "$$GIT_CEILING_DIRECTORIES" > ceiling
install:
	mkdir -p $(DESTDIR)/stepgrid/bin $(DESTDIR)/stepgrid/share/man $(DESTDIR)/stepgrid/share/sysbench/tests
	cp arguments ceiling $(DESTDIR)/stepgrid/share/sysbench
	printf '#!/bin/sh\\necho "$$LUA_PATH"\\n' > $(DESTDIR)/stepgrid/bin/sysbench
	chmod +x $(DESTDIR)/stepgrid/bin/sysbench
END
"""


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "attempt" / "tree"
    (made / "src").mkdir(parents=True)
    (made / "src/sb_lua.c").touch()
    (made / "configure").write_text(CONFIGURE)
    (made / "configure").chmod(0o755)
    return made


def make(tree, site=None, **flags):
    recipe = {"flags": {"libraries": "system", **flags}}
    asked = order(tree.parent, {"path": "x"}, engine="sysbench", recipe=recipe, site=site or Site(tools=AUTOTOOLS))
    assert isinstance(recipe_of(asked.build), SysbenchConfigure)
    return SysbenchConfigure().make(asked, Material(tree=tree))


def told(tree, file):
    return (tree.parent / "prefix/share/sysbench" / file).read_text().splitlines()


def test_it_finds_its_workloads_wherever_it_is(tree, monkeypatch):
    monkeypatch.delenv("LUA_PATH", raising=False)
    made = make(tree)
    assert made.programs == {"sysbench": ("prefix/bin/sysbench",)}
    assert (made.facts["lua"], made.facts["system"]) == ("prefix/share/sysbench", "configure")
    assert sorted(path.name for path in tree.parent.iterdir()) == ["build.log", "prefix"]
    assert sorted(path.name for path in (tree.parent / "prefix/share").rglob("*")) == [
        "arguments",
        "ceiling",
        "sysbench",
    ]
    moved = tree.parent.rename(tree.parent.with_name("moved"))
    done = subprocess.run(absolute(moved, made.programs["sysbench"]), capture_output=True, text=True, check=True)
    assert done.stdout == f"{moved}/prefix/share/sysbench/?.lua\n"


def test_both_drivers_and_no_processor_of_its_own(tree):
    made = make(tree, cflags="-O3", WORD="x")
    said = told(tree, "arguments")
    assert {"--with-mysql", "--with-pgsql", "--with-system-luajit", "--with-system-ck", "WORD=x"} <= set(said)
    assert "--without-gcc-arch" in said
    assert any(line.startswith("CFLAGS=-frecord-gcc-switches ") and line.endswith(" -O3") for line in said)
    assert (made.quality["route"], made.quality["luajit"]) == ("source", "system")


def test_what_the_tree_brings_is_used(tree):
    (tree / "third_party/luajit/luajit/src").mkdir(parents=True)
    (tree / "third_party/luajit/luajit/src/lj_obj.h").touch()
    assert make(tree).quality["luajit"] == "bundled"
    assert not any("system" in line for line in told(tree, "arguments"))


def test_a_missing_program_is_said_with_its_package(tree):
    with pytest.raises(BuildError) as error:
        make(tree, Site(tools={**AUTOTOOLS, "aclocal": "no-such-aclocal"}))
    assert str(error.value) == (
        "there is no program no-such-aclocal, which this build needs: "
        "install it (Debian package automake), or name it under `tools:` in the site file"
    )
