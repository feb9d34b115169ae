"""Engines: what they can do by release. The boundaries are those of the release notes."""

import pytest

from stepgrid.plugins.registry import engine
from tests.cases import rows


@pytest.mark.parametrize(("name", "capability", "without", "having"), rows(__file__, "capabilities by release"))
def test_capabilities_by_release(name, capability, without, having):
    found = engine(name)
    assert capability not in found.capabilities(without)
    assert capability in found.capabilities(having)


@pytest.mark.parametrize("name", ["mysql", "mariadb", "postgres"])
def test_where_a_server_listens_is_not_the_specs_business(name):
    assert engine(name).reserved["port"] == ""
