"""From the command's words to a search, and what cannot be one."""

from pathlib import Path

import pytest

from stepgrid.model.records import replace
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid_investigate.bisect.measurement import override_spec
from stepgrid_investigate.bisect.question import SearchError, Words, find_claim, list_candidates, make_request
from tests.build.repository import Repository
from tests.conftest import HOST

SPEC = """\
title: two families
builds:
  ours: {engine: program, versions: [1, 2, 3.10], source: {git: "URL", ref: "v{{ version }}"}, flags: {programs: p}}
  other: {engine: program, version: 1, source: {system: sh}}
steps:
  - name: run
    kind: command
    argv: ["{program:p}", "{{ params.n }}"]
    metrics: {ops: {pattern: '(\\d+)', better: higher}}
  - {name: more, kind: command, argv: ["{program:p}"], metrics: {size: {pattern: '(\\d+)'}}}
sweep: {build: [ours], n: {points: {few: {params: {n: 1}}, many: {params: {n: 2}}}}}
claims:
  - {claim: fast enough, expect: "ops() > 100", where: {step: run, n: few, build: ours-2}}
  - {claim: faster than before, expect: "ops(build='ours-2') > ops(build='ours-1')", where: {step: run, n: few}}
  - {claim: both, expect: "ops() > 100 and ops() < 200", where: {step: run, n: few}}
"""
WORDS = Words("a.yaml", None, None, (), "1", "3.10", None, "run", "ops", None, 0.05)
ONE = (
    SPEC.replace(
        "sweep: {build: [ours], n: {points: {few: {params: {n: 1}}, many: {params: {n: 2}}}}}",
        "params: {n: 1}\nsweep: {build: [ours]}",
    )
    .replace("n: few, ", "")
    .replace(", n: few", "")
)


def spec(repository=None):
    return ONE.replace("URL", repository.url if repository else "https://host.example/a.git")


def test_releases_of_the_spec(compile_text):
    plan = compile_text(spec())
    request = make_request(WORDS, plan)
    assert (request.commits, request.family, request.good, request.bad) == (False, "ours", "1", "3.10")
    assert [each.name for each in list_candidates(request, plan)] == ["1", "2", "3.10"]
    assert make_request(replace(WORDS, good="ours-1"), plan) == request


def test_commits_between_two_tags(compile_text, tmp_path):
    repository = Repository(tmp_path / "repository")
    made = [repository.commit(tag=f"w{each}", a_c=str(each)) for each in range(3)]
    plan = compile_text(spec(repository))
    request = make_request(replace(WORDS, good="w0", bad="w2", build="ours-2"), plan)
    assert (request.commits, request.good, request.bad, request.version) == (True, made[0], made[2], "2")
    found = list_candidates(request, plan)
    assert [each.ref for each in found] == made
    assert override_spec(request, None, found[:1], 3) == (
        f'builds={{"ours-{made[0][:10]}": {{"extends": "ours", "source": {{"ref": "{made[0]}"}}, "version": "2"}}}}',
        f'sweep.build=["ours-{made[0][:10]}"]',
        "repeat.until=null",
        "repeat.least=null",
        "repeat.most=null",
        "repeat.within=null",
        "repeat.loads=3",
        "also=null",
        "report.base=null",
        "report.tables=null",
        "claims=[]",
    )


@pytest.mark.parametrize("repeat", ["", "repeat: 2\n", "repeat: {until: decided, most: 4, within: 1h}\n"])
def test_the_search_says_how_many_loads(tmp_path, monkeypatch, repeat):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(spec() + repeat)
    request = make_request(WORDS, compile_spec("a.yaml", None, HOST))
    sets = override_spec(request, None, list_candidates(request, compile_spec("a.yaml", None, HOST))[:2], 3)
    plan = compile_spec("a.yaml", None, HOST, context=CompileContext(sets=sets))
    assert plan.until is None
    assert [(cell.labels["build"], len(cell.repeats)) for cell in plan.cells] == [("ours-1", 3), ("ours-2", 3)]


def test_a_claim_is_about_each_build(compile_text):
    plan = compile_text(spec())
    assert find_claim(plan, "Fast enough").to_json() == {
        "claim": "fast enough",
        "expect": "ops() > 100",
        "where": {"step": "run"},
    }
    request = make_request(replace(WORDS, claim="ops() > 100"), plan)
    assert (request.claim, request.metric, request.step) == ("fast enough", "", "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"build": "our"}, "the spec has no build `our`: name one with `--build`; did you mean `ours`?"),
        ({"step": None}, "the spec has 2 measured steps: name one with `--step`; known here: more, run"),
        ({"step": "rum"}, "no measured step is named `rum`: name one with `--step`; did you mean `run`?"),
        ({"metric": "opps"}, "there is no metric `opps`: did you mean `ops`?"),
        ({"metric": "size"}, "`size` has no better direction: search by a claim of the spec (`--claim`)"),
        ({"claim": "slow"}, "no claim of the spec is about `slow`; known here: both, fast enough, faster than before"),
        ({"claim": "fast"}, "2 claims of the spec are about `fast`; known here: fast enough, faster than before"),
        ({"claim": "both"}, "`ops() > 100 and ops() < 200`: a search needs one comparison by <, <=, > or >="),
        ({"claim": "faster than"}, "`ops(build='ours-2') > ops(build='ours-1')` names builds: a search looks at each "
         "build by itself"),
        ({"good": "w0"}, "`ours` has 3 versions, and commits declare one: name it, as `--build ours-1`"),
        ({"good": "2", "bad": "1"}, "`2` does not stand before `1` in the spec: list old versions first"),
    ],
)  # fmt: skip
def test_refused(compile_text, words, why):
    plan = compile_text(spec())
    with pytest.raises(SearchError) as caught:
        list_candidates(make_request(replace(WORDS, **words), plan), plan)
    assert str(caught.value) == why


def test_of_several_cells_one_is_chosen(compile_text):
    plan = compile_text(SPEC.replace("URL", "https://host.example/a.git"))
    with pytest.raises(SearchError) as caught:
        make_request(WORDS, plan)
    assert str(caught.value) == "`run` has 2 cells for each build: choose one, such as --only \"n == 'few'\""


def test_no_versions_and_no_repository(compile_text):
    plan = compile_text(spec().replace("build: [ours]", "build: [ours, other]"))
    with pytest.raises(SearchError) as caught:
        make_request(replace(WORDS, build="other"), plan)
    assert str(caught.value) == (
        "`1` and `3.10` are not both versions of `other`, and its source is not git: name two of its `versions`"
    )
