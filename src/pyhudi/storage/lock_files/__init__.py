"""The lock of a table on a local file system: a file, held by the kernel, with a queue and a record of its holder."""
