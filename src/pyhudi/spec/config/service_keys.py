"""Keys of what a write reports once it is committed (callbacks, metrics), and of services that are not served.

Rules: `HoodieWriteCommitCallbackConfig`, `HoodieMetricsConfig` and the classes next to it. Of services that are not served, a key is
accepted at the value that turns its feature off. Otherwise those of a service that changes no row of a write are accepted with
a warning, since a write that goes without is right; all others are refused by name. Nothing that is asked for is left undone in silence.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served, unserved

_CALLBACK = "hoodie.write.commit.callback"
_METRICS = "hoodie.metrics"

SERVICES: tuple[ConfigKey, ...] = (
    *harmless("sizes new records in log files, where pyhudi puts none", "hoodie.logfile.to.parquet.compression.ratio"),
    *harmless("follows from the index, which says where rows are stored: hoodie.index.type", "hoodie.storage.layout.*"),
    *unserved(
        "the table service manager is a server of Apache Hudi's own; `pyhudi services run` runs what is due on many tables",
        "hoodie.table.service.manager.enabled=false hoodie.table.service.manager.*",
    ),
    served(
        "hoodie.table.services.enabled",
        "Whether writes run table services, those that their own options ask for; services on request run all the same.",
        Kind.FLAG,
        "true",
    ),
    served(f"{_CALLBACK}.on", "Call a commit callback after each commit.", Kind.FLAG, "false"),
    served(
        f"{_CALLBACK}.class",
        "The commit callback: Apache Hudi's for HTTP by its class name, a Python class as module:Class, or one that is registered.",
        default="org.apache.hudi.callback.impl.HoodieWriteCommitHttpCallback",
    ),
    served(f"{_CALLBACK}.http.url", "Address that the HTTP callback posts its message to."),
    served(f"{_CALLBACK}.http.timeout.seconds", "How long the HTTP callback waits for the server.", Kind.POSITIVE, "30"),
    served(f"{_CALLBACK}.http.api.key", "Value of the header HUDI-CALLBACK-KEY.", default="hudi_write_commit_http_callback"),
    served(f"{_CALLBACK}.http.custom.headers", "Further headers, as Name:value;Other-Name:value.", default=""),
    *unserved(
        "a callback of this kind needs a client of a message broker; a Python callback sends the message with yours", f"{_CALLBACK}.**"
    ),
    served(f"{_METRICS}.on", "Report metrics of commits and table services.", Kind.FLAG, "false"),
    served(
        f"{_METRICS}.reporter.type",
        "Where metrics go: CONSOLE, GRAPHITE, INMEMORY, PROMETHEUS, PROMETHEUS_PUSHGATEWAY, SLF4J or STATSD.",
        default="GRAPHITE",
    ),
    served(
        f"{_METRICS}.reporter.class", "A reporter in Python, as module:Class, or one that is registered; it precedes the type.", default=""
    ),
    served(f"{_METRICS}.reporter.metricsname.prefix", "What precedes the names of metrics; by default the name of the table.", default=""),
    served(f"{_METRICS}.graphite.host", "Host of Graphite.", default="localhost"),
    served(f"{_METRICS}.graphite.port", "Port of Graphite.", Kind.COUNT, "4756"),
    served(f"{_METRICS}.graphite.metric.prefix", "What precedes the names that Graphite gets.", default=""),
    served("pyhudi.metrics.statsd.host", "Host of StatsD.", default="localhost"),
    served("pyhudi.metrics.statsd.port", "Port of StatsD.", Kind.COUNT, "8125"),
    served(f"{_METRICS}.prometheus.port", "Port on which this process serves metrics to Prometheus.", Kind.COUNT, "9090"),
    served(f"{_METRICS}.pushgateway.host", "Host of Prometheus's Pushgateway.", default="localhost"),
    served(f"{_METRICS}.pushgateway.port", "Port of Prometheus's Pushgateway.", Kind.COUNT, "9091"),
    served(f"{_METRICS}.pushgateway.job.name", "Job that metrics are pushed under.", default=""),
    served(f"{_METRICS}.pushgateway.report.labels", "Labels of the job, as name:value,other:value.", default=""),
    *harmless(
        "is not needed: metrics are sent when they change",
        f"{_METRICS}.graphite.report.period.seconds {_METRICS}.pushgateway.report.period.seconds",
    ),
    *harmless(
        "is not needed: a job's metrics are pushed under its name, replace those of its last run, and stay when it ends",
        f"{_METRICS}.pushgateway.random.job.name.suffix {_METRICS}.pushgateway.delete.on.shutdown",
    ),
    *harmless(
        "is about metrics of locks, of Spark's executors or of log blocks, which are not measured apart",
        f"{_METRICS}.lock.enable {_METRICS}.executor.enable hoodie.metricscompaction.log.blocks.on",
    ),
    *harmless(
        "is about a reporter that hoodie.metrics.reporter.type does not serve",
        f"{_METRICS}.cloudwatch.* {_METRICS}.datadog.* {_METRICS}.jmx.* {_METRICS}.m3.*",
    ),
    *unserved("a file with options of metrics is not read: give them as options", f"{_METRICS}.configs.properties"),
    *harmless("is read by Hudi Streamer, which alone fills an error table", "hoodie.errortable.*"),
    *harmless(
        "is about base files of another format than the table's, which hoodie.table.base.file.format states",
        "hoodie.orc.* hoodie.lance.* hoodie.hfile.max.file.size",
    ),
)
