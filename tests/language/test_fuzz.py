"""Whatever is done to a spec, it compiles or its problems have places: never a traceback."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.language.problem import SpecError, Where
from compiler.plan.model import Plan

SPECS = Path(__file__).resolve().parents[2] / "specs"
LIBRARY = (SPECS / "library" / "rocksdb.yaml").read_text(encoding="utf-8")
STEPS = (SPECS / "library" / "db_bench.yaml").read_text(encoding="utf-8")
QUICKSTART = (SPECS / "quickstart.yaml").read_text(encoding="utf-8")
QUICKSTART = QUICKSTART.replace("library/rocksdb.yaml, library/db_bench.yaml", "rocksdb.yaml, steps.yaml")
WORDS = [
    "null", "~", "[]", "{}", "{a: 1}", "[1, 2]", "-1", "0", "1e400", "0x10", "yes", "'", '"', "{{", "{{ }}",
    "{% for %}", "unset", "*a", "&a", "!!python/none", "? ", "- ", ": ", "#", "\t", "\ufeff", "é", "\u2028",
    "99999999999999999999", "{{ params.keys }}", "{{ options.bloom_bits }}", "{{ 1 // 0 }}",
    "{{ options.cache_size * 'a' }}", "when", "from: loaded", "version", "here", "sweep", "cache", "lru", "1KB", "5",
    "a/b c", "{value: 1, when: 'x'}", "[{when: 'version', value: 3}]",
]  # fmt: skip

Compile = Callable[..., Plan]


def mutated(text: str, seed: int) -> str:
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(lines))
        line = lines[place]
        match chance.randrange(6):
            case 0:
                del lines[place]
            case 1:
                lines.insert(chance.randrange(len(lines)), line)
            case 2:
                cut = chance.randrange(len(line) + 1)
                lines[place] = line[:cut] + chance.choice(WORDS) + line[cut:]
            case 3:
                key, colon, _ = line.partition(":")
                lines[place] = f"{key}{colon} {chance.choice(WORDS)}"
            case 4:
                lines[place] = "  " * chance.randrange(4) + line.lstrip()
            case 5:
                start = chance.randrange(len(line) + 1)
                lines[place] = line[:start] + line[start + chance.randint(1, 6) :]
        lines = lines or [""]
    return "\n".join(lines)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.sampled_from(["spec", "library", "steps"]))
def test_a_mutated_spec_compiles_or_its_problems_have_places(compile_text: Compile, seed: int, which: str) -> None:
    texts = {"spec": QUICKSTART, "library": LIBRARY, "steps": STEPS}
    texts[which] = mutated(texts[which], seed)
    for place, message in outcome(compile_text, texts):
        assert place.file in ("a.yaml", "rocksdb.yaml", "steps.yaml")
        assert place.line >= 1
        assert message


def outcome(compile_text: Compile, texts: dict[str, str]) -> list[tuple[Where, str]]:
    """The problems; none where there are cells."""
    try:
        plan = compile_text(texts["spec"], rocksdb=texts["library"], steps=texts["steps"])
    except SpecError as error:
        return [(problem.where, problem.message) for problem in error.problems]
    assert plan.cells
    return []
