"""Columns, savepoints and earlier states: what changes a table without new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from pyhudi.errors import UsageError
from pyhudi.service.restore import RestoreResult
from pyhudi.service.savepoint import Savepoint
from pyhudi.spec.arguments import check_strings
from pyhudi.spec.options import merge_options
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.table.methods.write_methods import WriteMethods
from pyhudi.table.scan.other_names import advised
from pyhudi.table.table_services import Services
from pyhudi.write.input.alter_columns import AddColumn, Change, DropColumn, RenameColumn, RetypeColumn


class ManageMethods(WriteMethods):
    """The methods of `HudiTable` that change columns or bring back earlier states."""

    @property
    def services(self) -> Services:
        """Table services: compaction, clustering, indexes, archival, rollback.

        Example:
            >>> table.services.compact()[0].rows
            2
        """
        return Services(self.storage, self.clock, self.ids, refresh=self.refresh)

    @advised
    def alter(
        self,
        *,
        add: Mapping[str, pa.DataType] | None = None,
        drop: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        retype: Mapping[str, pa.DataType] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> pa.Schema:
        """Change the columns of the table in one commit, as ALTER TABLE of SQL does. A field inside a struct is named `a.b`.

        Args:
            add: types of new columns by their names; they may be null and come last, before partition columns.
            drop: columns to drop; needs the option `hoodie.schema.on.read.enable`, as renaming does.
            rename: new names of columns by their present ones.
            retype: new types of columns; wider numbers without that option.
            options: `hoodie.*` options of this call. `hoodie.schema.on.read.enable=true` gives the columns of the table numbers, for good.

        Returns:
            The data columns of the table from now on. Columns are dropped first, then renamed, retyped by their new names, and added.

        Raises:
            SchemaError: a column does not exist, exists already, has an index or is part of the key, or cannot become what it shall.
            UnsupportedError: the change needs `hoodie.schema.on.read.enable`.
            UsageError: there is nothing to change, or an argument has another form.
            ConflictError: another writer holds the table, or came between; nothing is visible.

        Example:
            >>> table.alter(add={"tip": pa.float64()}).names
            ['id', 'city', 'ts', 'fare', 'tip']
            >>> table.alter(rename={"tip": "bonus"}, options={"hoodie.schema.on.read.enable": "true"}).names
            ['id', 'city', 'ts', 'fare', 'bonus']
        """
        changes: list[Change] = [DropColumn(_path(name)) for name in check_strings(drop, "drop", "column names")]
        changes += [RenameColumn(_path(name), _name(new, "rename")) for name, new in _mapping(rename, "rename").items()]
        changes += [RetypeColumn(_path(name), _type(kind, "retype")) for name, kind in _mapping(retype, "retype").items()]
        changes += [AddColumn(_path(name), _type(kind, "add")) for name, kind in _mapping(add, "add").items()]
        if not changes:
            raise UsageError("alter() changes nothing: give add=, drop=, rename= or retype=.")
        alter_schema(self, changes, merge_options(default_write_options(), options or {}))
        return self.schema

    def savepoint(self, instant: str | None = None, *, user: str = "", comment: str = "", dry_run: bool = False) -> Savepoint:
        """Keep the files of a commit, so that the table can be restored to it. Arguments, errors as in `savepoint` of `table.services`.

        Returns:
            The savepoint.

        Example:
            >>> table.savepoint(comment="before the migration").comment
            'before the migration'
        """
        return self.services.savepoint(instant, user=user, comment=comment, dry_run=dry_run)

    @advised
    def restore(self, to: str | None = None, *, dry_run: bool = False) -> RestoreResult:
        """Bring the table back to an earlier commit; all later commits are undone. Arguments, errors as in `restore` of `table.services`.

        Returns:
            What was rolled back and deleted.

        Example:
            >>> first = table.history()["requested"][0].as_py()
            >>> table.restore(to=first).state
            'completed'
            >>> table.count("fare = 12.0")
            1
        """
        return self.services.restore(to, dry_run=dry_run)


def _path(name: object) -> tuple[str, ...]:
    return tuple(_name(name, "alter").split("."))


def _name(name: object, argument: str) -> str:
    if not isinstance(name, str) or not name:
        raise UsageError(f"alter(): {argument} has {name!r:.100} where the name of a column belongs.")
    return name


def _mapping(value: object, argument: str) -> Mapping[str, object]:
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"alter(): {argument} is {value!r:.100}; give a dict by column, such as {{'tip': pyarrow.float64()}}.")
    return value or {}


def _type(kind: object, argument: str) -> pa.DataType:
    if not isinstance(kind, pa.DataType):
        raise UsageError(f"alter(): {argument} has {kind!r:.100} where a pyarrow type belongs, such as pyarrow.float64().")
    return kind
