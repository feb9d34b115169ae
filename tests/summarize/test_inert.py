"""Nothing of a label, a title or a cell does anything where a report is opened."""

import re
from base64 import b64encode
from hashlib import sha256

from stepgrid.package import TEMPLATES
from stepgrid.summarize import html_page


def test_the_policy_has_the_checksums_of_the_page_s_own_script_and_style() -> None:
    texts = html_page.policy()
    for name in ("style", "script"):
        digest = b64encode(sha256(texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in texts["policy"]
    assert texts["policy"].startswith("default-src 'none'; ")
    assert "unsafe" not in texts["policy"]
    assert "img-src" not in html_page.policy(script=False)["policy"], "pictures are made by the script alone"


def test_templates_have_no_script_or_style_beside_them() -> None:
    for name in ("report/index.html.j2", "report/bisect.html.j2", "site/index.html.j2"):
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        assert text.count('<meta http-equiv="Content-Security-Policy" content="{{ policy }}">') == 1
        assert re.findall(r"<style[^>]*>.*", text) == ["<style>{{ style }}</style>"]
        assert set(re.findall(r"<script[^>]*>.*", text)) <= {"<script>{{ script }}</script>"}
        assert not re.search(r" style=| on\w+=|javascript:|\bsrc=", text)
