"""Records of statistics that are decoded many at a time are those that are decoded one by one."""

from __future__ import annotations

import random

import pytest

from pyhudi.codec.hfile import CellPart
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.record import ColumnStats, FileEntry, FileList, RecordType, ValueType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.raw_cells import StoredCells
from pyhudi.metadata_table.read.stats_records import stats_records
from tests.unit.metadata_table.stats_samples import BOUNDS, random_stats

LEFT_TO_FASTAVRO = {6: {ValueType.DECIMAL}, 8: {ValueType.DECIMAL}, 9: set[ValueType]()}


def cells_of(version: int, index_version: int, kinds: set[ValueType]) -> StoredCells:
    encoder, chance = RecordEncoder(version), random.Random(version)
    values = []
    for kind in sorted(kinds):
        for bound in (None, *BOUNDS[kind]):
            stats = random_stats(chance, [RecordType.COLUMN_STATS], ["", "id"], kind, bound, index_version)
            values.append(encoder.encode(stats))
    return StoredCells(CellPart.of([(str(number).encode(), value) for number, value in enumerate(values)]), encoder.file_schema)


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("index_version", [1, 2])
def test_every_bound_and_count_is_decoded_as_fastavro_does(version: int, index_version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = LEFT_TO_FASTAVRO[version] if index_version == 2 else {ValueType.DECIMAL}
    for kinds, is_fast in ((set(BOUNDS) - left, True), (left, False)):
        cells = cells_of(version, index_version, kinds)
        decoder = RecordDecoder(cells.schema, "a file")
        each = [(row, decoder.decode(value)) for row, value in cells.part.cells()]
        with monkeypatch.context() as patch:
            if is_fast:
                patch.delattr("pyhudi.metadata_table.read.stats_records.RecordDecoder")
            assert repr(list(stats_records(cells, "a partition"))) == repr(each)


def test_damaged_records_and_others_are_refused() -> None:
    encoder = RecordEncoder(9)
    stats = encoder.encode(ColumnStats(RecordType.COLUMN_STATS, "a.parquet", "id", ValueType.STRING, "oslo", "rome", 1, 0))
    files = encoder.encode(FileList(RecordType.FILES, {"a.parquet": FileEntry(1)}))
    for value in (stats[:-1], stats + b"\0", stats.replace(b"oslo", b"\xff\xff\xff\xff"), files, b""):
        with pytest.raises(CorruptTableError, match="a partition"):
            list(stats_records(StoredCells(CellPart.of([(b"a", value)]), encoder.file_schema), "a partition"))
