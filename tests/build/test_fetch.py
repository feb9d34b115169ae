"""What clients of registries say when they fail, in a sentence of ours."""

import pytest

from stepgrid.build.commands import CommandResult
from stepgrid_registries import crate, maven, pypi
from stepgrid_registries.clients import explain_client

AGAIN = "check the network, then run the same command again"
OWN = {"mvn": maven._COMPLAINTS, "cargo": crate._COMPLAINTS, "pip": pypi._COMPLAINTS}
COMPLAINTS = [
    (
        "mvn: Could not find artifact a.b:c:jar:1 in central",
        "no repository of mvn's has x 1: check the group, the artifact, the version and the classifier",
    ),
    ("mvn: Could not transfer: Connection refused", f"mvn could not reach its registry for x 1: {AGAIN}"),
    (
        "mvn: Checksum validation failed, expected 1 but is 2",
        "x 1 arrived broken, with another checksum than its repository says: run the same command again",
    ),
    ("mvn: PKIX path building failed", "mvn does not trust its registry's certificate, and did not fetch x 1"),
    (
        "cargo: failed to select a version\ncandidate versions found which didn't match: 6.2, 6.1, ...\nlocation",
        "cargo's registry has no x 1; it has: 6.2, 6.1, ...",
    ),
    (
        "cargo: no matching package named `x` found\nAs a reminder, you're using offline mode (--offline)",
        "cargo is set to work offline, and its cache does not hold x 1",
    ),
    (
        "cargo: failed to get successful HTTP response, got 403 Forbidden",
        "cargo is not let in by its registry, and did not fetch x 1: check the client's settings",
    ),
    (
        "pip: Could not find a version that satisfies the requirement x==1 (from versions: none)",
        "pip's index has no x 1 for this machine: check the package's name, or choose the other `kind`",
    ),
    ("pip: No space left on device", "the disk is full: pip could not store x 1"),
    ("pip: what?", "pip could not fetch x 1: exit status 7"),
]


@pytest.mark.parametrize(("said", "expected"), COMPLAINTS)
def test_the_clients_own_words(said, expected):
    client, _, words = said.partition(": ")
    assert str(explain_client(client, "x 1", CommandResult(7, "", words), OWN[client])) == expected
