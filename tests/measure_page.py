"""Size of a page as a reader meets it, in Chromium: `python -m tests.measure_page PAGE.html …`.

What is inside closed details does not count, nor does the text of charts.
"""

import sys
import tempfile
from pathlib import Path

from tests.browser import PHONE, browser

SCREEN = 1400
HEIGHTS = {SCREEN: 900, PHONE: 844}
PART = 80  # pixels of a chart that the first screen shows at least
BUDGET = {"words": 600, "tables": 4, "charts": 12, "screens before the first chart": 1.0}
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def measure(page, path, width=SCREEN):
    """Measure a page on a screen, or on a phone."""
    page.open(path, width)
    page.ask(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=HEIGHTS[width], deviceScaleFactor=1, mobile=width == PHONE,
    )  # fmt: skip
    return page.run(SCRIPT)


def main(paths):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, browser(Path(profile)) as page:
        for path in map(Path, paths):
            for width in HEIGHTS:
                figures = ", ".join(f"{name} {value:.3g}" for name, value in measure(page, path, width).items())
                print(f"{path.name}, {width} px: {figures}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
