import pytest

from stepgrid.language.flags import Flags, flag_faults, read_flags
from stepgrid.language.sources import SourceFault
from stepgrid.plugins.registry import build_systems
from tests.cases import rows


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


@pytest.mark.parametrize(("name", "value", "said"), rows(__file__, "a_value_that_cannot_be"))
def test_a_value_that_cannot_be(name, value, said):
    assert faults(**{name: value}) == [SourceFault("wrong-flag", name, said)]
