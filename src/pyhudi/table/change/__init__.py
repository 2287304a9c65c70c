"""`HudiTable.update` and `HudiTable.merge`: which stored rows change, and to which values. May import what is directly in `table`."""
