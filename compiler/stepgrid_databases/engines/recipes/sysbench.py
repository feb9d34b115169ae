"""Recipe of sysbench: its configure script and make, with drivers for MySQL and PostgreSQL."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from stepgrid.build import ready_programs
from stepgrid.build.elf import codegen
from stepgrid.build.ready_programs import SharedLibraries, find_server_programs, library_folders, make_startable
from stepgrid.build.recipe import BuiltPrograms, InstalledPrograms, Material, Order, SearchFolder, SourceRecipe
from stepgrid_databases.engines.recipes import compilation
from stepgrid_databases.engines.recipes.compilation import (
    COMPILERS,
    PREFIX,
    Compile,
    host_suite,
    move_installed,
    prepare,
)
from stepgrid_databases.engines.recipes.mysqld import STAGED_HOME, client_plugins

_PACKAGES = ("libmariadb-dev", "libpq-dev", "libaio-dev")
_UNBUNDLED = ("libluajit-5.1-dev", "libck-dev")  # which Debian leaves out of its source package
# The clients' libraries cannot be linked statically: they load plugins, and some of theirs come as shared ones only.
_CLIENTS = ("libmariadb3", "libpq5")
_LINKS = {"libmysqlclient.so": "libmariadb.so.3", "libpq.so": "libpq.so.5"}


def search_folders(base: Path, libraries: Path) -> Iterator[SearchFolder]:
    yield from client_plugins(base, libraries)
    if (base / "share" / "sysbench").is_dir():  # a workload of one's own comes first
        yield SearchFolder("lua", base / "share" / "sysbench", "LUA_PATH", "${{LUA_PATH:+$LUA_PATH;}}{}/?.lua")


INSTALLED = InstalledPrograms(search_folders=search_folders)


class SysbenchConfigure(SourceRecipe):
    name, tools = "configure", (*COMPILERS, "make", "autoreconf", "aclocal", "libtoolize", "pkg-config")

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        tree = material.tree  # may hold LuaJIT and Concurrency Kit
        bundled = tree is not None and any(tree.glob("**/third_party/luajit/luajit/src/lj_obj.h"))
        packages = (*_PACKAGES, *(() if bundled else _UNBUNDLED))
        compiled = prepare(order, material, "src/sb_lua.c", packages, *self.tools)
        libraries = SharedLibraries(None)
        if compiled.devel.folder is not None:
            suite = compiled.flags.libraries or host_suite()
            libraries = ready_programs.fetch_libraries(order, {"debian": [*_CLIENTS], "suite": suite})
        home = _install(compiled, libraries, bundled)
        quality = codegen(home / "bin" / "sysbench")
        prefix = move_installed(compiled, home, ("bin", "share"))
        compilation.prune(order, ("sysbench",), prefix / "share")
        shutil.rmtree(prefix / "share" / "sysbench" / "tests", ignore_errors=True)
        compilation.prune(order, (PREFIX, ready_programs.LIBRARY_FOLDER))
        programs = make_startable(
            order, find_server_programs(prefix, order.engine, "the compiled tree"), libraries.system
        )
        return BuiltPrograms(
            programs.programs,
            quality={"route": "source", **quality, "luajit": "bundled" if bundled else "system"},
            artifacts=(*compiled.devel.artifacts, *libraries.artifacts),
            facts={**compiled.tools.facts(), **programs.facts, "system": self.name},
        )


def _install(compiled: Compile, libraries: SharedLibraries, bundled: bool) -> Path:
    tools, flags, tree, order = compiled.tools, compiled.flags, compiled.tree, compiled.order
    links = _link_clients(order, order.folder / libraries.system) if libraries.system else []
    arguments = [
        f"--prefix={STAGED_HOME}",
        "--with-mysql",
        "--with-pgsql",
        *([] if bundled else ["--with-system-luajit", "--with-system-ck"]),
        *([] if flags.march else ["--without-gcc-arch"]),  # else it compiles for the processor that it is compiled on
        *(["--with-debug"] if flags.assertions else []),
        f"CC={tools.launched_cc}",
        f"CFLAGS={shlex.join((*compiled.code, *flags.cflags))}",
        f"LDFLAGS={shlex.join((*links, *flags.ldflags))}",
        *(_package_arguments(compiled.devel.folder, order.folder, bundled) if compiled.devel.folder else []),
        *(f"{name}={value}" for name, value in flags.variables.items()),
    ]
    # it prints the commit of its tree, which must not be that of a repository around it
    environment = {**compiled.search, "GIT_CEILING_DIRECTORIES": str(tree.parent.resolve())}
    # without the folder that a LuaJIT of the tree is compiled in as a place where it looks for modules
    make = [tools["make"], f"CC={tools.launched_cc}", "TARGET_FLAGS=-ULUA_ROOT"]
    staging = order.folder / "staging"
    compiled.run([tools["autoreconf"], "--install", "--force"], tree, environment)
    compiled.run([str(tree / "configure"), *arguments], tree, environment)
    compiled.run([*make, *compiled.parallel], tree, environment)
    compiled.run([*make, "install", f"DESTDIR={staging}"], tree, environment)
    return staging / STAGED_HOME.lstrip("/")


def _link_clients(order: Order, prefix: Path) -> list[str]:
    """Link the clients' libraries to the names that the linker looks for; what they need themselves is beside them."""
    (order.folder / "links").mkdir()
    folder = library_folders(prefix)[0]
    for name, library in _LINKS.items():
        (order.folder / "links" / name).symlink_to(folder / library)
    return [f"-Wl,-rpath-link,{folder}"]


def _package_arguments(devel: Path, folder: Path, bundled: bool) -> list[str]:
    links = folder / "links"
    clients = [
        f"--with-mysql-includes={devel}/include/mariadb",
        f"--with-mysql-libs={links}",
        "ac_cv_search_mysql_real_connect=-lmysqlclient",  # it tries without LDFLAGS
        f"--with-pgsql-includes={devel}/include/postgresql",
        f"--with-pgsql-libs={links}",
    ]
    if bundled:
        return clients
    (luajit,) = (devel / "include").glob("luajit-*")
    lua = (f"LUAJIT_CFLAGS=-I{luajit}", f"LUAJIT_LIBS={devel}/lib/libluajit-5.1.a -lm")
    return [*clients, *lua, f"CK_CFLAGS=-I{devel}/include", f"CK_LIBS={devel}/lib/libck.a"]
