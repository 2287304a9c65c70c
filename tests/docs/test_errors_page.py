"""The page on errors names every class there is."""

from __future__ import annotations

import inspect
import re

from pyhudi import errors
from tests.docs.pages import ROOT


def test_errors_page_lists_every_error_and_what_it_also_is() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    listed = {match[1]: match[2] for match in re.finditer(r"^\| `(\w+)` \|.*\|(?: `(\w+)`)? \|$", text, re.MULTILINE)}
    classes = {
        name: error
        for name, error in inspect.getmembers(errors, inspect.isclass)
        if issubclass(error, errors.HudiError) and error is not errors.HudiError
    }
    assert set(listed) == set(classes)
    also = {name: base for name, base in listed.items() if base}
    wrong = {name: base for name, base in also.items() if base not in {c.__name__ for c in classes[name].__mro__}}
    assert wrong == {}
