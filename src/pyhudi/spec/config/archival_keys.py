"""Keys of archival. Rules: `HoodieArchivalConfig`; archival after writes is on, as in Apache Hudi."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served

ARCHIVAL: tuple[ConfigKey, ...] = (
    served("hoodie.archive.automatic", "Archive old instants after a write when it is due.", Kind.FLAG, "true"),
    served("hoodie.keep.max.commits", "Completed commits from which on a write archives older ones.", Kind.POSITIVE, "30"),
    served("hoodie.keep.min.commits", "Completed commits that archival leaves on the active timeline.", Kind.POSITIVE, "20"),
    served(
        "hoodie.archive.beyond.savepoint",
        "Archive commits after the first savepoint too, savepointed ones left out.",
        Kind.FLAG,
        "false",
    ),
    served("hoodie.archive.block.on.latest.clean.ectr", "Do not archive commits whose files the last clean kept.", Kind.FLAG, "false"),
    served(
        "hoodie.timeline.compaction.batch.size",
        "Files of one level of the archive that are merged into one; in table version 6 small files that are joined.",
        Kind.POSITIVE,
        "10",
    ),
    served(
        "hoodie.timeline.compaction.target.file.max.bytes",
        "Bytes of archive files from which on no more are merged into one.",
        Kind.POSITIVE,
        "1048576000",
    ),
    *harmless(
        "tunes how Hudi archives; pyhudi writes what a run archives at once",
        "hoodie.commits.archival.batch hoodie.timeline.manifest.retained.versions",
    ),
    *harmless("the write before an archival is committed in any case; what fails is logged", "hoodie.fail.on.timeline.archiving"),
    served("hoodie.archive.async", "Archive after a write in a thread of its own.", Kind.FLAG, "false"),
)
