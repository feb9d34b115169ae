"""Pictures of pages: `python -m scripts.screenshots [PAGE.html PICTURE]`.

PICTURE.png is how the page begins in Chromium, PICTURE.svg its first chart as a phone shows it. Without arguments: the
pages of the gallery beside themselves, and those of the docs site (which `make docs` makes) at the widths of a screen
and a phone, in dist/screenshots.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from gallery import GALLERY, PAGES, thumbnail  # noqa: E402  # the checkout's own

from tests.browser import PHONE, browser  # noqa: E402

WIDTH = 780  # pixels
SCREEN = 1400
SITE = ROOT / "site"
SITE_PAGES = (
    "index",
    "guides/index",
    "guides/two-releases",
    "guides/server",
    "guides/own-patch",
    "gallery/index",
)
SHOTS = ROOT / "dist" / "screenshots"


def main(arguments: Sequence[str]) -> int:
    if len(arguments) not in (0, 2):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments and arguments[1].endswith(".svg"):
        page_text = Path(arguments[0]).read_text(encoding="utf-8")
        Path(arguments[1]).write_text(thumbnail(page_text), encoding="utf-8")
        return 0
    chosen = [(Path(arguments[0]), Path(arguments[1]), WIDTH)] if arguments else list(pictures())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, browser(Path(profile)) as page:
        for path, picture, width in chosen:
            page.open(path, width=width)
            picture.parent.mkdir(parents=True, exist_ok=True)
            page.picture(picture)
            print(picture)
    return 0


def pictures() -> Iterator[tuple[Path, Path, int]]:
    """Yield each page, its picture and the width of the screen."""
    for name in PAGES:
        path = GALLERY / f"{Path(name).name}.html"
        yield path, path.with_suffix(".png"), WIDTH
    for name in SITE_PAGES:
        for width in (SCREEN, PHONE):
            yield SITE / f"{name}.html", SHOTS / f"{name.replace('/', '-')}-{width}.png", width


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
