"""docs/reference/kinds.md, from the settings models and the engines.

`python -m scripts.kinds_page > docs/reference/kinds.md`
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from stepgrid.language.sources import SOURCES
from stepgrid.plugins import registry
from stepgrid.plugins.registry import DRIVERS, ENGINES
from stepgrid.plugins.settings import ActionSettings, Quantity

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

INTRODUCTION = """# Step kinds, engines and sources

Made by `python -m scripts.kinds_page > docs/reference/kinds.md`; a test keeps it so.

A setting that a step does not give is the param of that name. Where a kind does one of several things, what an action
does not use is left out of its settings: a param that is meant for the queries does not make the load another one."""

ANY_VERSION = "9999"
NOT_YET = "This version checks and plans it; it does not run it yet."


def page() -> str:
    return "\n".join([INTRODUCTION, *_kinds(), *_engines(), *_equal_options(), *_renamings(), *_sources()])


def _kinds() -> Iterator[str]:
    for kind in DRIVERS.built_in():
        found = registry.driver(kind)
        yield from ("", f"## {kind}", "", _summary(found))
        if registry.runner(kind) is None:
            yield from ("", NOT_YET)
        yield from ("", *_table(found.settings_model()))
        yield from _nested(found.settings_model())


def _summary(found: object) -> str:
    module = sys.modules[type(found).__module__]
    text = (inspect.getdoc(module) or "").splitlines()[0].partition(": ")[2]
    return text[:1].upper() + text[1:]


def _table(model: type[BaseModel]) -> Iterator[str]:
    actions = model.ACTIONS if issubclass(model, ActionSettings) else {}
    yield from _heading("setting", "of", "default", "what it is", *(["used by"] if actions else []))
    for name, field in model.model_fields.items():
        used = [_users(name, model)] if issubclass(model, ActionSettings) else []
        yield _row(f"`{name}`", _of(field), _default(field), field.description or "", *used)


def _nested(model: type[BaseModel]) -> Iterator[str]:
    """What the maps hold whose keys are known."""
    for name, field in model.model_fields.items():
        for inner in _models(field.annotation):
            yield from ("", f"In `{name}`:", "", *_heading("key", "of", "default", "what it is"))
            for key, each in inner.model_fields.items():
                yield _row(f"`{each.alias or key}`", _of(each), _default(each), each.description or "")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _users(name: str, model: type[ActionSettings]) -> str:
    if name == model.ACTION or name in model.ALWAYS:
        return "all"
    of = {action: uses for action, uses in model.ACTIONS.items() if name in uses.required | uses.optional}
    others = [action for action in model.ACTIONS if action not in of]
    shown = [f"**{action}**" if name in uses.required else action for action, uses in of.items()]
    if not others:
        return "**all**" if all(name in uses.required for uses in of.values()) else "all"
    return f"all but {', '.join(others)}" if len(others) < len(of) else ", ".join(shown)


def _of(field: FieldInfo) -> str:
    kind = next((item.kind for item in field.metadata if isinstance(item, Quantity)), None)
    if kind is not None:
        return kind
    annotation = str(field.annotation)
    if list(_models(field.annotation)) == [field.annotation]:
        return "map"
    names = {"dict": "map", "bool": "true or false", "tuple": "list", "Literal": "a word", "Generated": "name or map"}
    names |= {"Series": "map", "float": "number", "'int'": "count"}
    return next((shown for name, shown in names.items() if name in annotation), "text")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**needed**"
    value: Any = None if field.default_factory else field.default
    seconds = " s" if _of(field) == "duration" else ""
    return "" if value is None or value == "" else f"`{_shown(value)}{seconds}`"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _engines() -> Iterator[str]:
    yield from ("", "## Engines", "")
    yield from _heading(
        "engine", "step kinds", "storage engines", "`has(…)`, by version", "options that a spec may not give"
    )
    for name in ENGINES.built_in():
        found = registry.engine(name)
        known = ", ".join(sorted(found.capabilities(ANY_VERSION)))
        yield _row(name, ", ".join(found.kinds), ", ".join(found.storage_engines), known, ", ".join(found.reserved))
    missing = [name for name in ENGINES.built_in() if not registry.is_runnable(name)]
    if missing:
        yield from ("", f"Checked and planned, not run yet: {', '.join(missing)}.")


def _equal_options() -> Iterator[str]:
    yield from ("", "## Equal options", "")
    yield "What [`equal`](language.md#equal-options) sets, by the durability that it names:"
    yield ""
    yield from _heading("engine", "`memory`", "`none`", "`os`", "`sync`")
    for name in ENGINES.built_in():
        for row in getattr(registry.engine(name), "equal", ()):
            classes = [row.durability.get(word, {}) for word in ("none", "os", "sync")]
            texts = [", ".join(f"`{name}: {_shown(value)}`" for name, value in options.items()) for options in classes]
            yield _row(f"{name}, {row.storage_engine}" if row.storage_engine else name, f"`{row.memory}`", *texts)


def _renamings() -> Iterator[str]:
    yield from ("", "## Options by release", "")
    yield "Write either name: a build gets [the one that its release has](language.md#options-by-release)."
    yield "Where the value stays the same, the new name serves earlier releases, too."
    yield ""
    yield from _heading("engine", "until then", "since", "from then on")
    for name in ENGINES.built_in():
        for row in getattr(registry.engine(name), "renamings", ()):
            old, new = row.change()
            since = ".".join(map(str, row.since))
            yield _row(
                name, f"`{old}`".replace("|", "\\|"), since, f"`{new}`".replace("|", "\\|") if new else "left out"
            )


def _sources() -> Iterator[str]:
    yield from ("", "## Sources", "")
    yield from _heading("kind", "needs", "takes")
    for kind, form in SOURCES.items():
        takes = ", ".join((*form.optional, *form.nested))
        yield _row(kind, ", ".join(form.required), takes)
    yield ""
    yield "URLs are https, ssh or file, no password. `extensions: {NAME: VERSION}` of a build adds to its engine:"
    offers = {name: " and ".join(registry.engine(name).extensions) for name in ENGINES.built_in()}
    yield f"{'; '.join(f'{offered} to {name}' for name, offered in offers.items() if offered)}."


def _heading(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield "|" + "---|" * len(titles)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(page())
