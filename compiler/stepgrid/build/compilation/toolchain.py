"""The compilers and build programs of this machine: found, recorded, and kept from what is in the user's shell."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from stepgrid.build.error import BuildError
from stepgrid.build.task import Order
from stepgrid.language.flags import Flags
from stepgrid.model.plan import Json

_SECONDS = 30.0
_DATE = "946684800"  # 2000-01-01: a compile's date must not make two binaries of one tree

FOLDER_MAP = "-ffile-prefix-map"

COMPILERS = ("cc", "c++")  # unless a build's flags name others

# Debian's package of a program that has another name
PACKAGES = {
    "cc": "gcc",
    "c++": "g++",
    "ninja": "ninja-build",
    "autoreconf": "autoconf",
    "aclocal": "automake",
    "libtoolize": "libtool",
    "ld": "binutils",
    "strip": "binutils",
    "pkg-config": "pkgconf",
    "mvn": "maven",
    "dpkg-source": "dpkg-dev",
}


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Absolute paths."""

    cc: str
    cxx: str
    tools: Mapping[str, str]
    ccache: str | None
    versions: Mapping[str, str]
    environment: Mapping[str, str]

    def __getitem__(self, tool: str) -> str:
        return self.tools[tool]

    @property
    def launched_cc(self) -> str:
        """For a make that takes `CC="ccache cc"`."""
        return self._launched(self.cc)

    @property
    def launched_cxx(self) -> str:
        return self._launched(self.cxx)

    @property
    def cmake_launcher(self) -> tuple[str, ...]:
        if self.ccache is None:
            return ()
        return tuple(f"-DCMAKE_{language}_COMPILER_LAUNCHER={self.ccache}" for language in ("C", "CXX"))

    def facts(self) -> dict[str, Json]:
        return {"toolchain": dict(self.versions)}

    def _launched(self, compiler: str) -> str:
        return f"{self.ccache} {compiler}" if self.ccache else compiler


def find(order: Order, flags: Flags, *tools: str) -> Toolchain:
    """The compilers and these programs; a BuildError names the first that is missing."""
    cc, cxx = (require(order, name) for name in (flags.cc or "cc", flags.cxx or "c++"))
    paths = {name: require(order, name) for name in tools if name not in COMPILERS}
    ccache = shutil.which(order.site.tool("ccache"))
    asked = {"cc": cc, "c++": cxx, **paths, **({"ccache": ccache} if ccache else {})}
    versions = {name: _version(order, path) for name, path in asked.items()}
    return Toolchain(cc, cxx, paths, ccache, versions, {**_environment(order, ccache), **flags.environment})


def require(order: Order, name: str) -> str:
    """The absolute path of a program that a build cannot do without."""
    chosen = order.site.tool(name)
    found = shutil.which(chosen)
    if found is None:
        package = PACKAGES.get(name, name)
        told = f"install it (Debian package {package}), or name it under `tools:` in the site file"
        raise BuildError(f"there is no program {chosen}, which this build needs: {told}")
    return found


def code_flags(order: Order, flags: Flags) -> tuple[str, ...]:
    """For every compile: what it was compiled with stays readable in it, and its folder does not.

    `-frecord-gcc-switches` lets the finished binary say its -march and its -O, whatever the build system added.
    """
    march = (f"-march={flags.march}",) if flags.march else ()
    return ("-frecord-gcc-switches", f"{FOLDER_MAP}={order.folder.absolute()}=.", *march)


def _environment(order: Order, ccache: str | None) -> dict[str, str]:
    clean = {"LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": _DATE}
    if ccache is None:
        return clean
    # each attempt has a folder of its own: its name must not be a reason to compile again
    return {**clean, "CCACHE_BASEDIR": str(order.folder.absolute()), "CCACHE_NOHASHDIR": "1"}


def _version(order: Order, path: str) -> str:
    done = order.commands.run([path, "--version"], _SECONDS, quiet=True)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines and not done.status else "unknown"
