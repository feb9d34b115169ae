"""A build that fails ends a run, whatever is still undecided: the next round would only ask for it again."""

from tests.integration.conftest import Lab

SPEC = """\
title: a gate
builds:
  base: {engine: program, version: 1.0.0, source: {path: base}, flags: {programs: say.sh}}
  mine: {engine: program, version: 1.0.1, source: {path: mine}, flags: {command: 'FAILING', programs: say.sh}}
allow: {mixed-quality: the commands differ}
steps: [{name: say, kind: command, argv: ["{program:say.sh}"], metrics: {qps: {pattern: 'x (\\d+)', required: true}}}]
repeat: 2
report: {base: {build: base}}
claims: [{claim: no slower, expect: "qps(build='mine') >= 0.95 * qps(build='base')", confirm: 2}]
"""


def test_a_tree_that_its_build_changes(tmp_path):
    """Its content is another one in each round, and so are the ids of its stages."""
    lab = Lab(tmp_path)
    lab.write(SPEC.replace("FAILING", f'sh -c "echo x >>{lab.folder}/mine/changes; exit 1"'))
    for folder in (lab.folder / "mine", lab.folder / "base"):
        folder.mkdir(exist_ok=True)
        (folder / "say.sh").write_text("#!/bin/sh\necho x 1000\n")
        (folder / "say.sh").chmod(0o755)
    done = lab.run()
    assert done.returncode != 0
    assert "the run is not complete: [2/4 done] 2 blocked" in done.stderr
    assert "stages more" not in done.stderr
