"""The catalog that settings name, connected."""

from __future__ import annotations

from pyhudi.errors import UnsupportedError
from pyhudi.sync.catalog_sync import CatalogSync
from pyhudi.sync.hive_metastore import HiveMetastore
from pyhudi.sync.metastore_client import connect, load_bindings
from pyhudi.sync.sync_settings import MODE, CatalogKind, SyncSettings


def catalog_name(settings: SyncSettings, kind: CatalogKind) -> str:
    """Return how messages call a catalog."""
    return f"Hive metastore {','.join(settings.uris)}" if kind is not CatalogKind.GLUE else "AWS Glue"


def check_client(kind: CatalogKind) -> None:
    """See that the client of a catalog is installed.

    Raises:
        OptionError: it is not.
    """
    if kind is not CatalogKind.HMS:
        raise UnsupportedError(f"{MODE}={kind} comes with a later release; hms is served")
    load_bindings()


def open_catalog(settings: SyncSettings, kind: CatalogKind) -> CatalogSync:
    """Connect with a catalog.

    Raises:
        OptionError: the package of its client is not installed, or its address is wrong.
        CatalogError: it does not answer.
    """
    check_client(kind)
    return HiveMetastore(connect(settings.uris), settings.database)
