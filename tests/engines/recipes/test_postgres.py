"""A tree that is configured, made and installed as Postgres is, of scripts instead of programs."""

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.model.site import Site
from stepgrid_databases.engines.recipes.postgres import PostgresConfigure
from tests.build.ordering import order

TOOLS = Site(tools=dict.fromkeys(("cc", "c++", "perl"), "true"))  # nothing is compiled
CONFIGURE = """\
#!/bin/sh
printf '%s\\n' "$@" > arguments
cat > Makefile <<'END'
all:
	echo "$(MAKELEVEL) $$LD_RUN_PATH" > environment
install:
	mkdir -p $(DESTDIR)/stepgrid/bin $(DESTDIR)/stepgrid/share $(DESTDIR)/stepgrid/include $(DESTDIR)/stepgrid/lib/pgxs
	cp arguments environment $(DESTDIR)/stepgrid/share
	for name in postgres initdb pg_ctl psql createdb; do touch $(DESTDIR)/stepgrid/bin/$$name; done
END
"""


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "attempt" / "tree"
    for file in ("src/include/access/xlog.h", "src/backend/parser/gram.c", "configure"):
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).write_text(CONFIGURE)
    (made / "configure").chmod(0o755)
    return made


def make(tree, **flags):
    recipe = {"flags": {"libraries": "system", **flags}}
    asked = order(tree.parent, {"path": "x"}, engine="postgres", recipe=recipe, site=TOOLS)
    return PostgresConfigure().make(asked, Material(tree=tree))


def test_what_is_left_of_it(tree):
    made = make(tree)
    assert made.programs == {name: (f"prefix/bin/{name}",) for name in ("postgres", "initdb", "pg_ctl", "psql")}
    assert sorted(path.name for path in tree.parent.iterdir()) == ["build.log", "prefix"]
    assert sorted(path.name for path in (tree.parent / "prefix").iterdir()) == ["bin", "lib", "share"]
    assert list((tree.parent / "prefix" / "lib").iterdir()) == []
    assert not (tree.parent / "prefix" / "bin" / "createdb").exists()
    assert (made.quality["route"], made.facts["system"]) == ("source", "configure")


def test_programs_look_for_libraries_beside_themselves(tree):
    make(tree)
    assert (tree.parent / "prefix" / "share" / "environment").read_text() == "0 $ORIGIN/../lib\n"


def test_flags_reach_the_configure_script(tree):
    make(tree, cflags="-O3 -fno-omit-frame-pointer", assertions="true", BLCKSZ="16")
    said = (tree.parent / "prefix" / "share" / "arguments").read_text().splitlines()
    assert "--enable-cassert" in said
    assert "BLCKSZ=16" in said
    assert any(line.startswith("CFLAGS=-O3 -fno-omit-frame-pointer -frecord-gcc-switches ") for line in said)


def test_something_else_is_no_tree_of_postgres(tree):
    (tree / "src/include/access/xlog.h").unlink()
    with pytest.raises(BuildError) as caught:
        make(tree)
    assert str(caught.value) == "this is no source tree of postgres: it has no src/include/access/xlog.h"
