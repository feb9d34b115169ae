from pathlib import Path

from stepgrid.build.recipes.server_folders import places
from tests.build.ordering import order


def test_a_client_whose_libraries_lie_elsewhere_in_the_build(tmp_path: Path):
    plugins = "usr/lib/x86_64-linux-gnu/libmariadb3/plugin"
    for folder in ("prefix/bin", "prefix/share/sysbench", f"system/prefix/{plugins}"):
        (tmp_path / folder).mkdir(parents=True)
    asked = order(tmp_path, {"path": "x"}, engine="sysbench")
    found = places(asked, tmp_path / "prefix/bin/sysbench", "system/prefix")
    assert found.facts == {"client plugins": f"system/prefix/{plugins}", "lua": "prefix/share/sysbench"}
    assert found.environment == {
        "MARIADB_PLUGIN_DIR": f"$build/system/prefix/{plugins}",
        "LUA_PATH": "${LUA_PATH:+$LUA_PATH;}$build/prefix/share/sysbench/?.lua",
    }
    assert places(asked, tmp_path / "prefix/bin/sysbench").facts == {"lua": "prefix/share/sysbench"}
