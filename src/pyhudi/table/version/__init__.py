"""Moving a table to another version or type, on request and before a write that asks for it."""
