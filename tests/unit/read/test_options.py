"""Options of a read without Spark: what has an argument is not given as an option."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError


@pytest.mark.parametrize(("name", "argument"), [("hoodie.datasource.query.type", "mode"), ("as.of.instant", "as_of")])
def test_option_that_an_argument_states_is_refused(name: str, argument: str) -> None:
    table = HudiTable.create(f"memory://read_{argument}", pa.schema([("id", pa.int64())]), name="t")
    with pytest.raises(OptionError, match=f"{name} is the argument {argument} here"):
        table.to_arrow(options={name: "read_optimized"})
