"""Commands on the lock of a table."""
