"""A stage that is measured again beside its result, by the runner itself."""

import pytest

from stepgrid.store import images, stage_requests

COUNT = "import sys; print(open(sys.argv[1] + '/MANIFEST').read())"


@pytest.fixture
def family(checkout, stage, step):
    checkout.plan(
        stage("s-a", children=["s-b"]), stage("s-b", step("count", COUNT), step("b", "print(1)"), parent="s-a")
    )
    for name in ("s-a", "s-b"):
        assert checkout.run(name).returncode == 0
    return checkout


def _made_by(family):
    return images.read_image_record(family.store.image("s-a")).attempt


def test_what_starts_from_a_load_that_was_measured_again_starts_from_the_new_one(family):
    first = _made_by(family)
    for name in ("s-a", "s-b"):
        stage_requests.request_redo(family.store, name, "")
    assert family.run("s-a").returncode == 0
    assert _made_by(family) == family.store.result("s-a").name != first
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["replayed"] is False


def test_an_image_of_the_load_before_is_not_left_where_the_new_one_cannot_be_kept(family):
    for name in ("s-a", "s-b"):
        stage_requests.request_redo(family.store, name, "")
    env = {"PYTHONPATH": f"{family.folder}:{family.environment()['PYTHONPATH']}"}
    (family.folder / "sitecustomize.py").write_text(
        "from stepgrid.store.store import Store\n"
        "def publish_image(self, stage, staged):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "Store.publish_image = publish_image\n"
    )
    assert family.run("s-a", **env).returncode == 0
    assert not family.store.image("s-a").exists()
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["stages_replayed"] == ["s-a"]
