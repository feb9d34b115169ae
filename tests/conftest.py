from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.language import render
from compiler.language.problem import Problems, SpecError
from compiler.plan.compile import compile_spec
from compiler.plan.model import Plan

HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}

Compile = Callable[..., Plan]
Complaints = Callable[..., str]


@pytest.fixture
def compile_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """The plan of a spec given as text; further files by name."""

    def compiled(text: str, scale: str | None = None, problems: Problems | None = None, **files: str) -> Plan:
        monkeypatch.chdir(tmp_path)
        Path("a.yaml").write_text(text, encoding="utf-8")
        for name, content in files.items():
            Path(f"{name}.yaml").write_text(content, encoding="utf-8")
        render._source.cache_clear()
        return compile_spec("a.yaml", scale, HOST, problems=problems)

    return compiled


@pytest.fixture
def complaints(compile_text: Compile) -> Complaints:
    """What is said about a wrong spec."""

    def said(text: str, scale: str | None = None, **files: str) -> str:
        with pytest.raises(SpecError) as caught:
            compile_text(text, scale, **files)
        return render.text(caught.value.problems)

    return said
