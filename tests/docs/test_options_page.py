"""The page on options says what the source says."""

from __future__ import annotations

from scripts import list_options


def test_options_page_is_current() -> None:
    assert list_options.TARGET.read_text(encoding="utf-8") == list_options.render(), "run `make options`"
