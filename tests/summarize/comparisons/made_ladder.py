"""Five versions of an engine, the third of which is slower at one point."""

from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILDS = ("rocksdb-6.11.4", "rocksdb-7.8.3", "rocksdb-8.9.1", "rocksdb-9.2.0", "rocksdb-10.4.2")
RATES = {"rocksdb-8.9.1": 0.9, "rocksdb-9.2.0": 0.9, "rocksdb-10.4.2": 0.9}
NOISE = (1.001, 0.999, 1.0, 1.002)


def measured(root, rates, unlike=()):
    """readww with two threads at these rates, the rest at 1; NOISE goes round."""
    made = Experiment(root, builds=BUILDS, base={"build": BUILDS[0]}, caches=("lru",))
    for at, build in enumerate(BUILDS):
        made.add_build(build, **({"quality": {"route": "source"}} if build in unlike else {"quality": {"route": "a"}}))
        for load in range(3):
            made.add_load(build, load, 300_000)
            for threads in ("1", "2"):
                rate = 10_000 * NOISE[(at + load + int(threads)) % 4]
                slow = rates.get(build, 1.0) if threads == "2" else 1.0
                made.add(build, "lru", threads, load, {"readww": rate * slow, "overwrite": rate})
    return scenario.report(made)
