"""Whatever is done to a spec, it compiles or its problems have places: never a traceback."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.language.problems import SpecError
from tests.language.mutations import mutated

SPECS = Path(__file__).resolve().parents[2] / "specs"
LIBRARY = (SPECS / "library" / "rocksdb.yaml").read_text(encoding="utf-8")
STEPS = (SPECS / "library" / "db_bench.yaml").read_text(encoding="utf-8")
QUICKSTART = (SPECS / "quickstart.yaml").read_text(encoding="utf-8")
QUICKSTART = QUICKSTART.replace("library/rocksdb.yaml, library/db_bench.yaml", "rocksdb.yaml, steps.yaml")
PYTHONISH = ("object at 0x", "NoneType", "<class", "Where(", "instance of", "'str'", "'int'", "'dict'", "__init__")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.sampled_from(["spec", "library", "steps"]))
def test_a_mutated_spec_compiles_or_its_problems_have_places(compile_text, seed, which):
    texts = {"spec": QUICKSTART, "library": LIBRARY, "steps": STEPS}
    texts[which] = mutated(texts[which], seed)
    for place, message in outcome(compile_text, texts):
        assert place.file in ("a.yaml", "rocksdb.yaml", "steps.yaml")
        text = texts[{"a.yaml": "spec", "rocksdb.yaml": "library"}.get(place.file, "steps")].split("\n")
        assert 1 <= place.line <= len(text) + 1
        assert 1 <= place.column <= max(map(len, text)) + 2
        assert message
        assert not any(word in message for word in PYTHONISH)


def outcome(compile_text, texts):
    """The problems; none where there are cells."""
    try:
        plan = compile_text(texts["spec"], rocksdb=texts["library"], steps=texts["steps"])
    except SpecError as error:
        return [(problem.where, problem.message) for problem in error.problems]
    assert plan.cells
    return []
