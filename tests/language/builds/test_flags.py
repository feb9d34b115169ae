import pytest

from stepgrid.language.flags import Flags, flag_faults, read_flags
from stepgrid.language.sources import SourceFault
from stepgrid.plugins.registry import build_systems


def faults(engine="rocksdb", **flags):
    return list(flag_faults({name.replace("__", "."): value for name, value in flags.items()}, build_systems(engine)))


def test_what_is_said_is_read():
    given = {
        "system": "cmake",
        "cxx": "clang++-16",
        "cxxflags": "-O3 '-DNAME=a b'",
        "march": "x86-64-v3",
        "assertions": "false",
        "PORTABLE": "1",
        "CMAKE_BUILD_TYPE": "Debug",
        "Boost_ROOT": "x",
        "env.TZ": "UTC",
    }
    assert not list(flag_faults(given, build_systems("rocksdb")))
    assert read_flags({"flags": given}) == Flags(
        system="cmake",
        cxx="clang++-16",
        cxxflags=("-O3", "-DNAME=a b"),
        march="x86-64-v3",
        assertions=False,
        variables={"PORTABLE": "1", "CMAKE_BUILD_TYPE": "Debug", "Boost_ROOT": "x"},
        environment={"TZ": "UTC"},
    )


@pytest.mark.parametrize("name", ["portable", "env.", "A-B", "env.1A"])
def test_an_unknown_name_with_what_there_is(name):
    (fault,) = flag_faults({name: "x"}, build_systems("rocksdb"))
    assert fault.hint == (
        "system, cc, cxx, cflags, cxxflags, ldflags, march, assertions, type, libraries; "
        "NAME for a variable of the build system; env.NAME for one of the environment"
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("system", "ninja", "`system: ninja` is not make or cmake"),
        ("assertions", "on", "`assertions: on` is not true or false"),
        ("cc", "-v", "`cc: -v` is not a compiler's name or path"),
        ("cxxflags", "-D'a", "`cxxflags: -D'a` cannot be split into words: no closing quotation"),
        ("march", "-m", "`march: -m` is not a processor that the compiler knows, such as native or x86-64-v3"),
        ("libraries", "/usr", "`libraries: /usr` is not a suite such as bookworm, or system"),
        ("PORTABLE", "1\n2", "`PORTABLE` holds a character that cannot be printed"),
    ],
)
def test_a_value_that_cannot_be(name, value, said):
    assert faults(**{name: value}) == [SourceFault("wrong-flag", name, said)]
