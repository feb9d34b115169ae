"""A client is in a plan by the id of its build."""

from stepgrid.expand.builds import Build
from stepgrid.expand.setup import Setup
from stepgrid.language.problems import Location
from stepgrid.plan.stage_tree import Setups

CLIENT = Build("sysbench", "sysbench", "sysbench", "1.0.20", {}, (), (), Location("a.yaml", 1, 1))


def test_one_object_for_all_steps_that_share_a_setup() -> None:
    setups, plain = Setups({"sysbench": "b-1"}), Setup({"start": "cold"}, '{"start":"cold"}')
    with_client = plain.attaching(CLIENT, {})
    assert (setups.client(plain), setups.client(with_client)) == (None, "b-1")
    assert setups.values(plain) is plain.values
    assert setups.values(with_client) == {"start": "cold", "client": "b-1"}
    assert setups.values(with_client) is setups.values(with_client)
    assert with_client.text == plain.text


def test_files_are_checksums_in_it() -> None:
    brought = Setup({}, "").attaching(None, {"a.lua": "text"})
    checksum = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert brought.values == {"files": {"a.lua": checksum}}
    assert brought.text == f'{{"files":{{"a.lua":"{checksum}"}}}}'
