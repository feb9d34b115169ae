"""Pictures of how pages begin in a browser, those of the gallery and of the docs site: `python -m scripts.screenshots`.

It needs Chromium, and the site that `make docs` has made.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import PHONE, Page, browser  # noqa: E402  # the checkout's own

GALLERY = ROOT / "docs" / "gallery"
SHOWN = ("quickstart", "2023-01-insert-benchmark-amd", "2023-08-myrocks-gc-debt")
WIDTH = 780  # pixels
SITE = {  # page of the site -> picture, width
    "index.html": ("site-front", 1280),
    "tutorial/two-releases.html": ("site-tutorial", 1280),
    "gallery/index.html": ("site-phone", PHONE),
}


def main() -> int:
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        for path in (GALLERY / f"{name}.html" for name in SHOWN):
            picture(page, path, path.with_suffix(".png"), WIDTH)
        for name, (shown, width) in SITE.items():
            picture(page, ROOT / "site" / name, GALLERY / f"{shown}.png", width)
    return 0


def picture(page: Page, path: Path, to: Path, width: int) -> None:
    page.open(path, width=width)
    page.picture(to)
    print(to.name)


if __name__ == "__main__":
    raise SystemExit(main())
