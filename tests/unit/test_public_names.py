"""What `pyhudi` exports: every name is there, found by editors, and the same object as below its older path."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import pyhudi
from pyhudi.keygen import user
from pyhudi.merge import custom
from pyhudi.write.write_result import WriteResult

SPARKS = {"enable", "disable"}


@pytest.mark.parametrize("name", sorted(set(pyhudi.__all__) - SPARKS))
def test_a_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(pyhudi, name) is not None
    assert name in dir(pyhudi)


def test_public_names_are_what_their_older_paths_give() -> None:
    assert pyhudi.register_merger is custom.register_merger
    assert pyhudi.register_key_generator is user.register_key_generator
    assert pyhudi.WriteResult is WriteResult


def test_the_version_is_that_of_the_package() -> None:
    assert pyhudi.__version__ == importlib.metadata.version("pyhudi")


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Hudi'"):
        pyhudi.Hudi  # noqa: B018


def test_a_misspelled_name_is_told_the_closest_one() -> None:
    done = subprocess.run([sys.executable, "-c", "import pyhudi; pyhudi.HudiTabel"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has no attribute 'HudiTabel'. Did you mean: 'HudiTable'?" in done.stderr


def test_version_names_and_registering_load_no_heavy_library() -> None:
    program = (
        "import sys, pyhudi; pyhudi.__version__, dir(pyhudi), pyhudi.register_merger; print({'pyarrow', 'pyspark'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(("module", "name"), [("local", "LocalStorage"), ("memory", "MemoryStorage")])
def test_former_names_of_modules_warn_and_hand_on_the_class(module: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"pyhudi.storage.{module}_storage"):
        former = importlib.import_module(f"pyhudi.storage.{module}")
    assert getattr(former, name) is getattr(importlib.import_module(f"pyhudi.storage.{module}_storage"), name)
