"""What the tests of the git source ask of a fetch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material

Fetch = Callable[..., Material]


def log(tmp_path: Path) -> str:
    return (tmp_path / "attempt" / "build.log").read_text()


def refused(fetch: Fetch, *given: Any, **more: Any) -> str:
    with pytest.raises(BuildError) as caught:
        fetch(*given, **more)
    return str(caught.value)
