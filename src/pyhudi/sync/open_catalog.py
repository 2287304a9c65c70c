"""The catalog that settings name, connected."""

from __future__ import annotations

import contextlib
from typing import Final

from pyhudi.clients.metastore_client import check_addresses, connect, load_bindings
from pyhudi.errors import UnsupportedError
from pyhudi.storage.remote.hadoop_settings import session_setting
from pyhudi.sync.catalog_sync import CatalogSync
from pyhudi.sync.custom_catalog import catalog_provider
from pyhudi.sync.glue_catalog import GlueCatalog
from pyhudi.sync.glue_client import connect_glue, load_client
from pyhudi.sync.hive_metastore import HiveMetastore
from pyhudi.sync.hive_server import HiveServer
from pyhudi.sync.server_client import connect_server, load_driver
from pyhudi.sync.sync_settings import JDBC_URL, URIS, CatalogKind, SyncSettings

#: Settings of a session whose metastore wants more than plain Thrift.
_SECURED: Final = {"hive.metastore.sasl.enabled": "Kerberos", "hive.metastore.use.SSL": "TLS"}


def catalog_name(settings: SyncSettings, kind: CatalogKind | str) -> str:
    """Return how messages call a catalog."""
    if not isinstance(kind, CatalogKind):
        return kind
    if kind is CatalogKind.GLUE:
        return "AWS Glue"
    if kind is CatalogKind.HMS:
        return f"Hive metastore {','.join(settings.uris)}"
    return f"HiveServer2 {settings.options.text(JDBC_URL)}"


def check_client(settings: SyncSettings, kind: CatalogKind | str) -> None:
    """See that the client of a catalog is installed, and that the addresses of a metastore are some; nothing is connected.

    Raises:
        OptionError: it is not, or they are not.
        UnsupportedError: the metastore of the session wants a login or encryption.
    """
    if not isinstance(kind, CatalogKind):
        catalog_provider(kind)
        return
    if kind is CatalogKind.GLUE:
        load_client()
        return
    load_bindings()
    _check_session(settings)
    check_addresses(settings.uris)
    if kind is not CatalogKind.HMS:
        load_driver()


def _check_session(settings: SyncSettings) -> None:
    """See that the session's metastore can be reached; one that an option names is another one."""
    if settings.options.get(URIS) is not None:
        return
    for name, what in _SECURED.items():
        if (session_setting(name) or "").lower() == "true":
            raise UnsupportedError(
                f"the session's Hive metastore wants {what} ({name}=true), which a sync does not serve: name one without it in {URIS}"
            )


def open_catalog(settings: SyncSettings, kind: CatalogKind | str) -> CatalogSync:
    """Connect with a catalog.

    Raises:
        OptionError: the package of its client is not installed, or its address is wrong.
        UnsupportedError: the metastore of the session wants a login or encryption.
        CatalogError: it does not answer.
    """
    check_client(settings, kind)
    if not isinstance(kind, CatalogKind):
        return catalog_provider(kind).open_catalog(settings.options.given, settings.database)
    if kind is CatalogKind.GLUE:
        skip_archive = settings.options.flag("hoodie.datasource.meta.sync.glue.skip_table_archive")
        return GlueCatalog(connect_glue(settings.options), settings.database, skip_archive=skip_archive)
    if kind is CatalogKind.HMS:
        return HiveMetastore(connect(settings.uris), settings.database, settings.batch_size)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(contextlib.closing(connect_server(settings.options)))
        client = connect(settings.uris)
        stack.pop_all()
    return HiveServer(client, server, settings.database, settings.batch_size)
