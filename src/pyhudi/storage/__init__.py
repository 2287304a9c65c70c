"""The only code that opens files of a table.

One protocol, with local, in-memory and object storage behind it. A file is made in one step or not at all, never over another one, and
never outside the table's folder (docs/design/0053-storage-and-crashes.md).
"""
