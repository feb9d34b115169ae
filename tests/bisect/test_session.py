"""Decisions of a search survive its process."""

from stepgrid.model.records import replace
from stepgrid.store.store import Store
from stepgrid_investigate.bisect.question import BisectRequest, Candidate
from stepgrid_investigate.bisect.search import Measure
from stepgrid_investigate.bisect.session import State, load_state

REQUEST = BisectRequest("a.yaml", None, None, (), "ours", "1", False, "1", "3.10", "run", "ops", "", 0.05)


def test_decisions_are_kept(tmp_path):
    store = Store(tmp_path / "outputs")
    assert load_state(store, REQUEST) is None
    state = State(store.bisect(REQUEST.key), REQUEST, [Candidate("1", "1"), Candidate("2", "2", "2024-05-06", "x")])
    state.decide(Measure((0, 1), 3, "the two ends"))
    assert load_state(store, REQUEST) == state
    assert load_state(store, replace(REQUEST, by=0.1)) is None
    (state.folder / "search.json").write_text('{"candidates": 1}')
    assert load_state(store, REQUEST) is None
