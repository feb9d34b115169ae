"""A spec compiled for this host: the one place where planning meets the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compiler.language.problem import Problems
from compiler.plan.model import Plan


def compiled(
    spec: str, scale: str | None, problems: Problems | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Plan:
    """SpecError holds everything that is wrong with the spec."""
    from compiler.build.pin import pin
    from compiler.plan.compile import compile_spec
    from compiler.run.host import hardware
    from compiler.store.store import Store

    outputs = Store().root
    return compile_spec(spec, scale, hardware(outputs if outputs.is_dir() else Path()), pin, problems, only, sets)
