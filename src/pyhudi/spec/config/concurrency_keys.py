"""Keys of several writers at a time: the mode, what counts as a conflict, how often a write is repeated, and the lock."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served

_LATER = "comes with a later release"

CONCURRENCY: tuple[ConfigKey, ...] = (
    served(
        "hoodie.write.concurrency.mode",
        "SINGLE_WRITER: one writer after the other. OPTIMISTIC_CONCURRENCY_CONTROL: writers work side by side, and of two that changed the"
        " same file groups the second one to commit fails.",
        default="SINGLE_WRITER",
    ),
    served(
        "hoodie.write.lock.conflict.resolution.strategy",
        "What counts as a conflict: one of Apache Hudi's classes, by default the bucket one for tables with a bucket index, else the simple"
        " one.",
    ),
    served(
        "hoodie.write.num.retries.on.conflict.failures",
        "How often a write that lost against another one is repeated, with growing pauses.",
        Kind.COUNT,
        "0",
    ),
    *harmless(
        "pyhudi waits for a lock for hoodie.write.lock.wait_time_ms in all",
        """
        hoodie.write.lock.num_retries hoodie.write.lock.wait_time_ms_between_retry hoodie.write.lock.max_wait_time_ms_between_retry
        hoodie.write.lock.client.num_retries hoodie.write.lock.client.wait_time_ms_between_retry
        """,
    ),
    *refused(
        "a write whose columns contradict those that another writer has added is refused in any case",
        "hoodie.write.concurrency.schema.conflict.resolution.enable=true",
    ),
    *refused(
        f"early detection of conflicts {_LATER}",
        """
        hoodie.write.concurrency.early.conflict.detection.enable=false hoodie.write.concurrency.early.conflict.check.commit.conflict=false
        hoodie.write.concurrency.*
        """,
    ),
    *refused(
        f"lock providers {_LATER}; pyhudi's writers exclude each other by a lock of their own",
        "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.InProcessLockProvider hoodie.write.lock.**",
    ),
)
