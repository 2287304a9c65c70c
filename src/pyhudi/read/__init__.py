"""From a question to rows without Spark: snapshots, changes, change data; and which files a filter may skip, for both engines."""
