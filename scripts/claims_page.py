"""docs/gallery/claims.md: the claims of the published experiments, judged by the author's own figures.

`python -m scripts.claims_page > docs/gallery/claims.md`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stepgrid.language.problems import Problems
from stepgrid.model.plan import Json, Plan
from stepgrid.plan.assembly import compile_spec
from stepgrid_published import figures as published
from stepgrid_published.claims import OWN_SENTENCE, PublishedClaim, counts, judge_as_published
from stepgrid_published.figures import Published

ROOT = Path(__file__).resolve().parents[1]
POSTS = ROOT / "specs" / "posts"
HOST: dict[str, Json] = {"cpu": "", "cores": 1, "memory": 2**30, "storage": {}}  # claims are the same for every host
REPOSITORY = "github "
INTRODUCTION = """# Claims of articles, on the author's own figures

The claims of each published experiment, judged by the figures that its author published. So a claim that your run
refutes is about your run, and no fault of the spec.

Made by `python -m scripts.claims_page > docs/gallery/claims.md`; `stepgrid claims SPEC` prints the same
([how it judges](../reference/results.md#published-figures)). Each figure is of one run, so no verdict has an interval.
Of several points the table has the figure at the worst one."""


def page(compiled: Callable[[Path], Plan] = lambda path: compile_spec(str(path), None, HOST)) -> str:
    sections, everything = [], []
    for path in sorted(POSTS.glob("*.yaml")):
        figures = published.read(str(path), Problems())
        assert figures is not None, path
        plan = compiled(path)
        claims = judge_as_published(plan, figures)
        everything += claims
        sections.append("\n".join(_section(path, plan, figures, claims)))
    return "\n\n".join([INTRODUCTION, *sections, f"## All {len(sections)} posts\n\n{counts(everything)}."])


def _section(path: Path, plan: Plan, figures: Published, claims: Sequence[PublishedClaim]) -> Iterator[str]:
    yield f"## {plan.title}\n"
    yield f"[Spec](../../specs/posts/{path.name}); {counts(claims)}.\n"
    yield "| the article says | figure there | as published |"
    yield "|---|---|---|"
    for claim in claims:
        note = f" ({OWN_SENTENCE})" if claim.is_by_sentence else ""
        yield f"| {claim.claim.claim} | {claim.numbers.replace('|', '&#124;')} | {claim.result} {claim.points}{note} |"
    if figures.tables:
        yield f"\nFigures: {'; '.join(_sources(figures))}."
    if figures.unclaimed:
        yield "\nThe article also says, without a claim here:\n"
        yield from (f"- {statement}: {reason}" for statement, reason in figures.unclaimed.items())


def _sources(figures: Published) -> Iterator[str]:
    """bench/arc/a/x.tsv, y.tsv of github mdcallag/mytools e1ba3d9e; the article"""
    folders: dict[tuple[str, str], list[str]] = {}
    for table in figures.tables:
        file = Path(table.file or "")
        folders.setdefault((table.from_, str(file.parent)), []).append(file.name)
    for (source, folder), names in folders.items():
        unique = list(dict.fromkeys(names))
        yield f"`{folder}` ({', '.join(unique)}) of {source}" if unique != [""] else source


if __name__ == "__main__":
    print(page())
