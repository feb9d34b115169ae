from __future__ import annotations

import pytest

from stepgrid.build import crate, maven, pypi
from stepgrid.build.commands import CommandResult
from stepgrid.build.fetch import explain_client

AGAIN = "check the network, then run the same command again"
OWN = {"mvn": maven._COMPLAINTS, "cargo": crate._COMPLAINTS, "pip": pypi._COMPLAINTS}


@pytest.mark.parametrize(
    ("client", "said", "expected"),
    [
        (
            "mvn",
            "Could not find artifact a.b:c:jar:1 in central (https://host.example/)",
            "no repository of mvn's has x 1: check the group, the artifact, the version and the classifier",
        ),
        (
            "mvn",
            "Could not transfer artifact a:b:pom:1 from/to central: Connect to host.example failed: Connection refused",
            f"mvn could not reach its registry for x 1: {AGAIN}",
        ),
        (
            "mvn",
            "Cannot access central in offline mode and the artifact a:b:jar:1 has not been downloaded from it before.",
            "mvn is set to work offline, and its local repository does not hold x 1",
        ),
        (
            "mvn",
            "Checksum validation failed, expected 1 but is 2",
            "x 1 arrived broken, with another checksum than its repository says: run the same command again",
        ),
        (
            "cargo",
            "error: failed to select a version\ncandidate versions found which didn't match: 6.2, 6.1, ...\nlocation",
            "cargo's registry has no x 1; it has: 6.2, 6.1, ...",
        ),
        ("cargo", "error: no matching package named `x` found", "cargo's registry has no x 1: check the crate's name"),
        (
            "cargo",
            "error: no matching package named `x` found\nAs a reminder, you're using offline mode (--offline)",
            "cargo is set to work offline, and its cache does not hold x 1",
        ),
        (
            "cargo",
            "warning: spurious network error (3 tries remaining): [7] Could not connect to server",
            f"cargo could not reach its registry for x 1: {AGAIN}",
        ),
        (
            "pip",
            "ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)",
            "pip's index has no x 1 for this machine: check the package's name, or choose the other `kind`",
        ),
        (
            "pip",
            "WARNING: Retrying after connection broken by 'NewConnectionError'\n(from versions: none)",
            f"pip could not reach its registry for x 1: {AGAIN}",
        ),
        (
            "pip",
            "python: No module named pip",
            "this Python has no pip: install it (Debian package python3-pip), or name a Python that has one as `python`"
            " under `tools:` in the site file",
        ),
        ("pip", "OSError: No space left on device", "the disk is full: pip could not store x 1"),
        (
            "mvn",
            "PKIX path building failed",
            "mvn does not trust its registry's certificate, and did not fetch x 1",
        ),
        (
            "cargo",
            "failed to get successful HTTP response, got 403 Forbidden",
            "cargo is not let in by its registry, and did not fetch x 1: check the client's settings",
        ),
        (
            "mvn",
            "authorization failed for URL, status: 403 Forbidden",
            "mvn is not let in by its registry, and did not fetch x 1: check the client's settings",
        ),
        ("pip", "what?", "pip could not fetch x 1: exit status 7"),
    ],
)
def test_the_clients_own_words(client: str, said: str, expected: str) -> None:
    assert str(explain_client(client, "x 1", CommandResult(7, "", said), OWN[client])) == expected
