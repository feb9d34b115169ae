"""What the tests of the git source ask of a fetch."""

import pytest

from stepgrid.build.error import BuildError


def log(tmp_path):
    return (tmp_path / "attempt" / "build.log").read_text()


def refused(fetch, *given, **more):
    with pytest.raises(BuildError) as caught:
        fetch(*given, **more)
    return str(caught.value)
