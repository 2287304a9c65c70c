"""The built site in a real browser: no page is wider than its window, no element runs off, no picture is missing.

`pictures/` holds what `python -m scripts.browse_site --pictures tests/docs/pictures --pages index.html commands/index.html` made.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.browse_site import browser, pages_of, problems_of, take_pictures

ROOT = Path(__file__).parents[2]
needs_browser = pytest.mark.skipif(browser() is None, reason="no Chromium on this machine")

PAGE = '<!doctype html><meta charset="utf-8"><article>{}</article>'
TABLE = '<table style="width:900px"><tr><td>wide</td></tr></table>'
GOOD = PAGE.format(f'<div style="overflow-x:auto">{TABLE}</div>')
BAD = PAGE.format(f'{TABLE}<img src="none.png">')


@pytest.mark.slow
@needs_browser
def test_pages_that_do_not_fit_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "index.html").write_text(BAD, "utf-8")
    (tmp_path / "good.html").write_text(GOOD, "utf-8")
    problems = problems_of(tmp_path)
    assert "bad/index.html at 390: <table> runs off the page: wide" in problems
    assert "bad/index.html: picture none.png is missing" in problems
    assert not [problem for problem in problems if "good" in problem or "1280" in problem]


@pytest.mark.slow
@needs_browser
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_every_page_of_the_site_fits_a_telephone_and_a_desktop(tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site], cwd=ROOT, check=True, timeout=300)
    assert len(pages_of(site)) > 60
    assert problems_of(site) == []
    for picture in take_pictures(site, tmp_path / "pictures", ["index.html", "commands/index.html"]):
        assert picture.stat().st_size > 10_000
