"""Keys of several writers at a time: the mode, what counts as a conflict, how often a write is repeated, and the lock."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served

#: Whether others write at the same time.
MODE = "hoodie.write.concurrency.mode"
#: The options that a lock provider in Python defines itself.
CUSTOM_LOCK = "hoodie.write.lock.custom.**"

CONCURRENCY: tuple[ConfigKey, ...] = (
    served(
        MODE,
        "SINGLE_WRITER: one writer after the other. OPTIMISTIC_CONCURRENCY_CONTROL: writers work side by side, and of two that changed the"
        " same file groups the second one to commit fails. NON_BLOCKING_CONCURRENCY_CONTROL: writers append to the same buckets of a"
        " merge-on-read table side by side, and all of them commit.",
        default="SINGLE_WRITER",
    ),
    served(
        "hoodie.write.lock.conflict.resolution.strategy",
        "What counts as a conflict: one of Apache Hudi's classes, by default the bucket one for tables with a bucket index, else the simple"
        " one. With PreferWriterConflictResolutionStrategy clusterings give way to writes.",
    ),
    served(
        "hoodie.write.num.retries.on.conflict.failures",
        "How often a write that lost against another one is repeated, with growing pauses; 3 times for non-blocking writers if not given.",
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
    *harmless(
        "a write whose columns contradict those that another writer has added is refused in any case",
        "hoodie.write.concurrency.schema.conflict.resolution.enable",
    ),
    served(
        "hoodie.write.concurrency.early.conflict.detection.enable",
        "Whether an optimistic writer looks at the markers of others before it writes a file, and gives up when one of them writes to the"
        " same file group.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.write.concurrency.early.conflict.detection.strategy",
        "Apache Hudi's class of early detection: SimpleDirectMarkerBasedDetectionStrategy or AsyncTimelineServerBasedDetectionStrategy, for"
        " markers of both kinds; SimpleTransactionDirectMarkerBasedDetectionStrategy locks each file group as well, and needs"
        " ZookeeperBasedLockProvider.",
    ),
    served(
        "hoodie.write.concurrency.early.conflict.check.commit.conflict",
        "Whether early detection looks at the commits that completed since the write began as well.",
        Kind.FLAG,
        "false",
    ),
    *harmless(
        "conflicts are detected before each file is written, and not at intervals",
        """
        hoodie.write.concurrency.async.conflict.detector.initial_delay_ms hoodie.write.concurrency.async.conflict.detector.period_ms
        """,
    ),
    served(
        "hoodie.write.lock.provider",
        "Apache Hudi's class of the lock that all writers of the table share, pyhudi and Apache Hudi, a Python class as `module:Class`, or"
        " a registered provider; by default only the own one.",
    ),
    served(
        CUSTOM_LOCK,
        "Options of a lock provider in Python, which gets all options that begin with `hoodie.write.lock.`.",
    ),
    served(
        "hoodie.write.lock.filesystem.path",
        "Folder of the lock file of FileSystemBasedLockProvider; by default the table's `.hoodie`.",
    ),
    served(
        "hoodie.write.lock.filesystem.expire",
        "Minutes after which the lock file of FileSystemBasedLockProvider is taken for left over; 0 for never.",
        Kind.COUNT,
        "0",
    ),
    served(
        "hoodie.write.lock.storage.validity.timeout.secs",
        "For how many seconds the lock of StorageBasedLockProvider is valid unless it is renewed: so long others wait for a dead writer.",
        Kind.POSITIVE,
        "300",
    ),
    served(
        "hoodie.write.lock.storage.renew.interval.secs",
        "After how many seconds the lock of StorageBasedLockProvider is renewed; at most a tenth of its validity.",
        Kind.POSITIVE,
        "30",
        aliases=("hoodie.write.lock.storage.heartbeat.poll.secs",),
    ),
    served("hoodie.write.lock.zookeeper.url", "Servers of ZookeeperBasedLockProvider, such as `zk1:2181,zk2:2181`."),
    served("hoodie.write.lock.zookeeper.port", "Must be the port that hoodie.write.lock.zookeeper.url names."),
    served("hoodie.write.lock.zookeeper.base_path", "Node of ZooKeeper below which the nodes of locks are."),
    served("hoodie.write.lock.zookeeper.lock_key", "Name of the table's node below the base path; by default the table's name."),
    served(
        "hoodie.write.lock.zookeeper.session_timeout_ms",
        "After how many milliseconds without a sign of life ZooKeeper releases the lock of a writer.",
        Kind.POSITIVE,
        "60000",
    ),
    served(
        "hoodie.write.lock.zookeeper.connection_timeout_ms",
        "How many milliseconds to wait for an answer of ZooKeeper.",
        Kind.POSITIVE,
        "15000",
    ),
    served(
        "hoodie.time.generator.max_expected_clock_skew_ms",
        "By how many milliseconds the clocks of writers may differ: a lock provider's lock is held until a time taken under it is over on"
        " all of them.",
        Kind.COUNT,
        "200",
    ),
    served(
        "hoodie.write.lock.heartbeat_interval_ms",
        "After how many milliseconds HiveMetastoreBasedLockProvider sends a heartbeat; less than half of the metastore's"
        " `hive.txn.timeout`.",
        Kind.POSITIVE,
        "60000",
    ),
    served("hoodie.write.lock.hivemetastore.uris", "Hive metastore of HiveMetastoreBasedLockProvider, such as `thrift://host:9083`."),
    served("hoodie.write.lock.hivemetastore.database", "Database of the table of the metastore whose lock is taken."),
    served("hoodie.write.lock.hivemetastore.table", "Table of the metastore whose lock is taken; it need not exist."),
    served("hoodie.write.lock.dynamodb.table", "Table of DynamoDB whose items are locks; it is created if it does not exist."),
    served("hoodie.write.lock.dynamodb.partition_key", "Key of the item of DynamoDBBasedLockProvider; by default the table's name."),
    served("hoodie.write.lock.dynamodb.region", "Region of DynamoDB; by default AWS_REGION of the environment, then us-east-1."),
    served("hoodie.write.lock.dynamodb.endpoint_url", "Address of DynamoDB, where it is not that of the region."),
    served(
        "hoodie.write.lock.dynamodb.billing_mode",
        "How a table of DynamoDB is paid for that is created.",
        default="PAY_PER_REQUEST",
        choices=("PAY_PER_REQUEST", "PROVISIONED"),
    ),
    served("hoodie.write.lock.dynamodb.read_capacity", "Read units of a table that is created as PROVISIONED.", Kind.POSITIVE, "20"),
    served("hoodie.write.lock.dynamodb.write_capacity", "Write units of a table that is created as PROVISIONED.", Kind.POSITIVE, "10"),
    served(
        "hoodie.write.lock.dynamodb.table_creation_timeout",
        "For how many milliseconds to wait for a table of DynamoDB that is created.",
        Kind.POSITIVE,
        "600000",
    ),
    *refused("Apache Hudi has no lock provider with such an option", "hoodie.write.lock.**"),
)
