"""Tools to test with, shipped.

Storage that fails, is cut or records; a state machine of tables; invariants; an oracle of merging.
"""
