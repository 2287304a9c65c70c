"""Keys of table services, synchronisation and reporting: none of these is served yet.

A key is accepted at the value that turns its feature off. Otherwise those of a service that changes no row of a write are accepted with
a warning, since a write that goes without is right; all others are refused by name. Nothing that is asked for is left undone in silence.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, harmless, refused, unserved

_LATER = "comes with a later release"

SERVICES: tuple[ConfigKey, ...] = (
    *harmless("sizes new records in log files, where pyhudi puts none", "hoodie.logfile.to.parquet.compression.ratio"),
    *refused("the index of a table says where its rows are stored: hoodie.index.type", "hoodie.storage.layout.*"),
    *unserved(
        f"the table service manager {_LATER}",
        "hoodie.table.service.manager.enabled=false hoodie.table.service.manager.*",
    ),
    *refused(
        "each service has its own switch: hoodie.compact.inline, hoodie.clustering.inline, hoodie.archive.automatic",
        "hoodie.table.services.enabled=true",
    ),
    *unserved(
        f"metrics {_LATER}",
        "hoodie.metrics.on=false hoodie.metrics.lock.enable=false hoodie.metrics.executor.enable=false hoodie.metrics.*"
        " hoodie.metricscompaction.log.blocks.on=false",
    ),
    *refused(f"error tables {_LATER}", "hoodie.errortable.enable=false"),
    *harmless("is about an error table, which hoodie.errortable.enable asks for", "hoodie.errortable.*"),
    *harmless(
        "is about base files of another format than the table's, which hoodie.table.base.file.format states",
        "hoodie.orc.* hoodie.lance.* hoodie.hfile.max.file.size",
    ),
)
