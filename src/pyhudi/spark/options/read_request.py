"""What a `DataFrameReader` was told, and the snapshot query that it means.

Rules: option names and values of `DataSourceReadOptions`. Options are matched without regard to case, as Spark's own
are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader

from pyhudi.errors import OptionError, UsageError
from pyhudi.read.incremental.changes_options import changes_query, is_incremental
from pyhudi.read.incremental.incremental import ChangesQuery
from pyhudi.read.read_kinds import ReadKind, kind_of, warn_of_no_effect
from pyhudi.read.snapshot.find_table import BASE_PATH, PATHS, split_paths
from pyhudi.read.snapshot.query_type import SHOWS_INSTANTS, SHOWS_SLICES, SnapshotQuery, snapshot_query
from pyhudi.spark.jvm.patches import Hook
from pyhudi.spark.options.writer_state import option_text
from pyhudi.spark.scan.delta_files import MERGE_FOLDER
from pyhudi.spec.options import Options, merge_options, resolve

Reader: TypeAlias = DataFrameReader | DataStreamReader

_ATTRIBUTE = "_pyhudi_request"
_FUNCTION = "hoodie.datasource.read.table.valued.function"
_FORMATS = frozenset({"hudi", "org.apache.hudi"})


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Format, options and schema of one reader; None where the user said nothing."""

    source: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    has_schema: bool = False

    @property
    def is_hudi(self) -> bool:
        """True when the format is Hudi."""
        return self.source is not None and self.source.lower() in _FORMATS

    def with_options(self, given: Mapping[str, object]) -> ReadRequest:
        """Return the request with more options; those that are None say nothing."""
        strings = {name: option_text(value) for name, value in given.items() if value is not None}
        return replace(self, options={**self.options, **strings})

    def with_arguments(self, source: str | None, schema: object | None, given: Mapping[str, object]) -> ReadRequest:
        """Return the request with what `load` itself was told: a format, a schema and options."""
        return replace(self, source=source or self.source, has_schema=self.has_schema or schema is not None).with_options(given)

    def locations(self, path: str | list[str] | None) -> list[str]:
        """Return the paths to load: those of `load`, or of the option `path`, and those of `hoodie.datasource.read.paths`.

        Raises:
            UsageError: no path or a schema was given.
        """
        if self.has_schema:
            raise UsageError("a Hudi table has its own schema: leave out schema(...) and select or cast columns afterwards.")
        named = self._stated("path")
        paths = [path] if isinstance(path, str) else list(path or ([named] if named else []))
        paths += split_paths(self._stated(PATHS) or "")
        if not paths:
            raise UsageError("spark.read.format('hudi').load() takes the path of a table, or of partitions of one: load('/data/trips').")
        return paths

    def location(self, path: str | list[str] | None) -> str:
        """Return the path of the table to load.

        Raises:
            UsageError: no path, several, or a schema was given.
        """
        paths = self.locations(path)
        if len(paths) != 1:
            raise UsageError(
                f"a stream, and a read of instants or file slices, is of one table, got {len(paths)} paths: load('/data/trips')."
            )
        return paths[0]

    @property
    def merge_folder(self) -> str | None:
        """The option `pyhudi.merge.folder`."""
        return self._stated(MERGE_FOLDER)

    @property
    def base_path(self) -> str | None:
        """The option `hoodie.base.path`."""
        return self._stated(BASE_PATH)

    def _stated(self, option: str) -> str | None:
        return next((value for name, value in self.options.items() if name.lower() == option), None)

    def table_view(self, defaults: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
        """Return the function of SQL, with what follows the table, that shows what the options ask for in place of rows; None for rows.

        Raises:
            OptionError: an option has a bad value, or they ask for file slices and for instants.
        """
        options = self._resolved(defaults)
        shows_slices, shows_instants = options.flag(SHOWS_SLICES), options.flag(SHOWS_INSTANTS)
        if shows_slices and shows_instants:
            raise OptionError(f"{SHOWS_SLICES} and {SHOWS_INSTANTS} are both true: one read shows one of them.")
        if shows_slices or shows_instants:
            self._warn(ReadKind.VIEW)
        if shows_slices:
            return "hudi_filesystem_view", (options.text(f"{_FUNCTION}.filesystem.relation.subpath"),)
        if shows_instants:
            return "hudi_query_timeline", (str(options.flag(f"{SHOWS_INSTANTS}.archived")).lower(),)
        return None

    def query(self, defaults: Mapping[str, str] | None = None) -> SnapshotQuery | ChangesQuery:
        """Return what the options ask for.

        Args:
            defaults: Options of the session, which those of the reader overrule.

        Raises:
            OptionError: an option is unknown or has a bad value.
        """
        if any(name.lower() == PATHS for name in defaults or {}):
            raise OptionError(f"{PATHS} is an option of one read, not a setting of a session: reader.option('{PATHS}', ...).")
        options = self._resolved(defaults)
        query = changes_query(options) if is_incremental(options) else snapshot_query(options)
        self._warn(kind_of(query))
        return query

    def _warn(self, kind: ReadKind) -> None:
        """Warn of options of this reader, not of the session, that have no effect on what it reads."""
        warn_of_no_effect(self._resolved({}), kind)

    def _resolved(self, defaults: Mapping[str, str] | None) -> Options:
        given = {name: value for name, value in self.options.items() if name.lower() not in ("path", PATHS)}
        return resolve(merge_options(defaults or {}, given))


def request_of(reader: Reader) -> ReadRequest:
    """Return what is known of a reader."""
    match = reader.__dict__.get(_ATTRIBUTE)
    return match if isinstance(match, ReadRequest) else ReadRequest()


def note(reader: Reader, request: ReadRequest) -> None:
    """Remember the request of a reader."""
    reader.__dict__[_ATTRIBUTE] = request


def noting_hooks() -> dict[str, Hook]:
    """Return the hooks of the chained calls of a reader, by their names: each notes what was said, then lets Spark's own method run."""

    def noting(change: Callable[..., ReadRequest]) -> Hook:
        def hook(reader: Reader, original: Hook, *args: Any, **kwargs: Any) -> Any:
            note(reader, change(request_of(reader), *args, **kwargs))
            return original(reader, *args, **kwargs)

        return hook

    return {
        "format": noting(lambda request, source: replace(request, source=source)),
        "schema": noting(lambda request, schema: replace(request, has_schema=schema is not None)),
        "option": noting(lambda request, key, value: request.with_options({key: value})),
        "options": noting(lambda request, **options: request.with_options(options)),
    }
