"""Source files of a bootstrapped table that a clean deletes with their skeletons (`hoodie.clean.delete.bootstrap.base.file=true`).

Rules: `CleanPlanner`, `CleanActionExecutor`. A plan says which files are to go, and the bootstrap index which they may be: nothing is
deleted that the index does not name as the source of a skeleton of the same plan, nor a file that has changed since the bootstrap.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping

from pyhudi.errors import StorageError
from pyhudi.fsview.bootstrap_index import source_of
from pyhudi.spec.files.bootstrap_source import BootstrapSource, is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.storage.open_storage import open_source_folder
from pyhudi.storage.storage_protocol import Storage

_log = logging.getLogger(__name__)


def sources_of_skeletons(storage: Storage, files: Mapping[str, Iterable[str]]) -> dict[str, tuple[BootstrapSource, ...]]:
    """Return the source files of the skeletons among files that are given by partition path.

    Raises:
        CorruptTableError: the bootstrap index is damaged or does not name one.
    """
    by_path = {path: tuple(_sources(storage, path, names)) for path, names in files.items()}
    return {path: sources for path, sources in by_path.items() if sources}


def _sources(storage: Storage, path: str, names: Iterable[str]) -> Iterator[BootstrapSource]:
    for name in sorted(names):
        parsed = parse_base_file_name(name)
        if parsed is not None and is_skeleton(parsed.instant):
            yield source_of(storage, BaseFile(path, parsed, size=0))


def delete_source(storage: Storage, source: BootstrapSource) -> bool:
    """Delete a source file, and tell whether it is deleted; one that has changed, or that cannot be deleted, stays."""
    try:
        folder = open_source_folder(storage, source.folder)
        status = folder.stat(source.name)
        if status is None:
            return True
        if status.is_dir or status.size != source.size or source.was_modified(status.modified_ms):
            _log.warning("source file %s of table %s has changed since the bootstrap and is not deleted", source.uri, storage.uri)
            return False
        folder.delete(source.name)
    except (StorageError, OSError) as error:
        _log.warning("source file %s of table %s cannot be deleted: %s", source.uri, storage.uri, error)
        return False
    return True
