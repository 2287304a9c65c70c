"""What CONTRIBUTING.md tells people to read, to change and to type exists."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATH = re.compile(r"`((?:src|tests|docs|scripts|bench|\.ci)/[\w./-]*)`")
MODULE = re.compile(r"`python -m ([\w.]+)")


def test_every_path_exists() -> None:
    assert PATH.findall(TEXT)
    assert [path for path in PATH.findall(TEXT) if not (ROOT / path).exists()] == []


def test_every_target_of_make_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", TEXT)) - targets == set()


def test_every_module_that_is_run_exists() -> None:
    assert [name for name in MODULE.findall(TEXT) if not (ROOT / f"{name.replace('.', '/')}.py").is_file()] == []
