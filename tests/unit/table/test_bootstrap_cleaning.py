"""Cleans of bootstrapped tables that delete source files, and the bloom filters of skeletons."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.codec.actions.clean_codec import decode_clean_metadata, decode_clean_plan, encode_clean_plan
from pyhudi.errors import CorruptTableError
from tests.bootstrapped import all_amounts, amounts, bootstrap, rides, write_source

DELETES = {"hoodie.clean.delete.bootstrap.base.file": "true"}
LATEST = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
MANUAL = {"hoodie.clean.automatic": "false"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "plain")


@pytest.fixture
def table(tmp_path: Path, source: Path) -> HudiTable:
    """A table of which one file of `lima` is written as a whole."""
    table = bootstrap(tmp_path / "rides", source)
    table.upsert(rides([1], "lima", 100.0, ts=1), MANUAL)
    return table


def left(source: Path) -> list[str]:
    return sorted(str(file.relative_to(source)) for file in source.rglob("*.parquet"))


FILES = ["lima/a.parquet", "lima/b.parquet", "oslo/a.parquet", "oslo/b.parquet", "rome/a.parquet", "rome/b.parquet"]
EXPECTED = {**all_amounts(), "k1": 100.0}


def timeline_file(table: HudiTable, suffix: str) -> Path:
    return next((Path(table.storage.uri) / ".hoodie" / "timeline").glob(f"*{suffix}"))


def test_without_the_option_no_source_file_is_deleted(table: HudiTable, source: Path) -> None:
    (result,) = table.services.clean(options=LATEST)
    assert (result.total_files, result.sources) == (1, ())
    assert left(source) == FILES


def test_the_source_of_a_deleted_skeleton_goes_with_it(table: HudiTable, source: Path, caplog: pytest.LogCaptureFixture) -> None:
    (planned,) = table.services.clean(options={**LATEST, **DELETES}, dry_run=True)
    assert planned.sources == (f"file:{source}/lima/a.parquet",)
    assert "1 source files of the bootstrap" in str(planned)
    assert left(source) == FILES
    with caplog.at_level(logging.WARNING):
        (result,) = table.services.clean(options={**LATEST, **DELETES})
    assert "deletes 1 files that the table was bootstrapped from" in caplog.text
    assert result.sources == planned.sources
    assert left(source) == FILES[1:]
    assert amounts(table) == EXPECTED
    done = decode_clean_metadata(timeline_file(table, ".clean").read_bytes())
    assert done.sources["lima"].deleted == result.sources
    assert done.files_deleted == 1
    table.upsert(rides([45], "rome", 7.0, ts=2), MANUAL)
    assert amounts(HudiTable.open(table.storage.uri)) == {**EXPECTED, "k45": 7.0}


def test_a_write_cleans_with_the_option_of_another_name(table: HudiTable, source: Path) -> None:
    options = {"hoodie.cleaner.delete.bootstrap.base.file": "true", **LATEST}
    table.upsert(rides([2], "lima", 101.0, ts=2), options)
    assert left(source) == FILES[1:]
    assert amounts(table) == {**EXPECTED, "k2": 101.0}


def test_the_command_line(table: HudiTable, source: Path) -> None:
    flags = [part for name, value in (LATEST | DELETES).items() for part in ("--hoodie-conf", f"{name}={value}")]
    done = CliRunner().invoke(main, ["clean", table.storage.uri, "--json", *flags], catch_exceptions=False)
    assert json.loads(done.output)["sources"] == [f"file:{source}/lima/a.parquet"]
    assert left(source) == FILES[1:]


def test_a_savepoint_retains_the_source_of_its_skeletons(table: HudiTable, source: Path) -> None:
    saved = bootstrap(Path(table.storage.uri).parent / "saved", source)
    saved.services.savepoint("00000000000001")
    saved.upsert(rides([1], "lima", 100.0, ts=1), MANUAL)
    assert saved.services.clean(options={**LATEST, **DELETES}) == ()
    assert left(source) == FILES


def test_a_source_file_that_has_changed_stays(table: HudiTable, source: Path, caplog: pytest.LogCaptureFixture) -> None:
    pq.write_table(rides([1], "lima"), source / "lima" / "a.parquet")
    (result,) = table.services.clean(options={**LATEST, **DELETES})
    assert (result.total_files, result.sources) == (1, ())
    assert "has changed since the bootstrap and is not deleted" in caplog.text
    assert left(source) == FILES
    done = decode_clean_metadata(timeline_file(table, ".clean").read_bytes())
    assert done.sources["lima"].failed == (f"file:{source}/lima/a.parquet",)


def test_a_planned_clean_is_carried_out_by_another_process(table: HudiTable, source: Path) -> None:
    table.services.clean(options={**LATEST, **DELETES}, mode="schedule")
    (source / "lima" / "a.parquet").unlink()  # as if it had been interrupted after the deletion
    (result,) = HudiTable.open(table.storage.uri).services.clean()
    assert result.sources == (f"file:{source}/lima/a.parquet",)
    assert left(source) == FILES[1:]
    assert amounts(table) == EXPECTED


@pytest.mark.parametrize("named", ["oslo/a.parquet", "../other.parquet"])
def test_a_plan_that_names_another_file_is_refused(table: HudiTable, source: Path, named: str) -> None:
    """A damaged plan must not lead to files that are no business of the clean."""
    (source.parent / "other.parquet").write_bytes(b"")
    table.services.clean(options={**LATEST, **DELETES}, mode="schedule")
    file = timeline_file(table, ".clean.requested")
    plan = decode_clean_plan(file.read_bytes())
    sources = {"lima": (f"file:{source}/{named}",)} if named.startswith("..") else {"oslo": (f"file:{source}/{named}",)}
    damaged = type(plan)(plan.policy, plan.retained_from, plan.last_completed, plan.files, sources=sources)
    file.write_bytes(encode_clean_plan(damaged, sync=bytes(16)))
    with pytest.raises(CorruptTableError, match="is the source of no skeleton that it deletes"):
        table.services.clean()
    assert left(source) == FILES
    assert (source.parent / "other.parquet").exists()


def filter_bytes(files: Iterable[Path]) -> list[int]:
    return [len(pq.read_metadata(file).metadata[b"org.apache.hudi.bloomfilter"]) for file in files]


def skeletons(table: HudiTable) -> list[Path]:
    return sorted(Path(table.storage.uri).glob("*/*_00000000000001.parquet"))


@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE"])
def test_skeletons_have_filters_that_tell_keys_apart_where_options_speak_of_them(tmp_path: Path, index: str) -> None:
    """A filter is a third of the time of a bootstrap. A saturated one is true for every key, for every reader."""
    (tmp_path / "plain").mkdir()
    keys = [f"k{number:05}" for number in range(3000)]
    pq.write_table(pa.table({"id": keys, "amount": [1.0] * len(keys)}), tmp_path / "plain" / "a.parquet")
    made = [
        HudiTable.bootstrap(tmp_path / name, tmp_path / "plain", name=name, keys=["id"], options=options)
        for name, options in (
            ("saturated", {}),
            ("filtered", {"hoodie.index.type": "BLOOM"}),
            ("sized", {"hoodie.index.bloom.num_entries": "10000"}),
        )
    ]
    small, fitting, sized = (filter_bytes([next(Path(table.storage.uri).glob("*.parquet"))])[0] for table in made)
    assert small < 5000 < fitting < sized
    for table in made:
        table.upsert([{"id": "k00007", "amount": 2.0}, {"id": "k1", "amount": 3.0}], {"hoodie.index.type": index})
        assert table.count() == 3001
        assert table.to_arrow(filter="id = 'k00007'").column("amount").to_pylist() == [2.0]
        rewritten = max(Path(table.storage.uri).glob("*.parquet"), key=lambda file: file.stat().st_mtime_ns)
        assert filter_bytes([rewritten])[0] > 5000, "the next file of the group has a filter that tells keys apart"
