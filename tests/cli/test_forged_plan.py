"""A bundle whose plan is whole by its own digest, and says of a stage what its id is not made of."""

import json
from hashlib import sha256

from stepgrid.cli import main
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from tests.cli import bundles


def forged(file, change):
    """With a plan, a digest and checksums that agree with each other."""
    plan = change(replace(bundles.planned(), digest=""))
    plan = replace(plan, digest=plan_file.digest(plan))
    texts = {f"content/plan/{plan_file.PLAN_FILE}": plan_file.text(plan).encode()}

    def put(members):
        info, manifest = members["export.json"]
        said = json.loads(manifest)
        for name, text in texts.items():
            members[name] = (members[name][0], text)
            said["files"][name.removeprefix("content/")] |= {"sha256": sha256(text).hexdigest(), "bytes": len(text)}
        members["export.json"] = (info, json.dumps({**said, "plan": plan.digest}).encode())

    return bundles.rewrite(file, put)


def test_a_stage_that_was_measured_otherwise(one, two, capsys):
    file = bundles.export(capsys)
    root = next(stage for stage in bundles.planned().stages if stage.parent is None)

    def change(plan):
        step = replace(root.steps[0], settings={**root.steps[0].settings, "keys": 7})
        other = replace(root, steps=(step, *root.steps[1:]))
        return replace(plan, stages=tuple(other if each.id == root.id else each for each in plan.stages))

    changed = forged(file, change)
    two()
    assert main(["import", str(changed)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"{changed} is not imported: the stage {root.id} declares what has the id s-")


def test_results_that_call_themselves_published(one, two, capsys):
    file = bundles.export(capsys)
    changed = forged(file, lambda plan: replace(plan, spec="import sysbench x"))
    two()
    assert main(["import", str(changed)]) == 3
    build = bundles.planned().builds[0].id
    assert capsys.readouterr().err == f"{changed} is not imported: the build {build} was not published\n"


def test_the_same_plan_is_imported(one, two, capsys):
    changed = forged(bundles.export(capsys), lambda plan: plan)
    two()
    assert main(["import", str(changed)]) == 0, capsys.readouterr().err
