"""The methods of `HudiTable` by what they are for. May import everything of `table` but `hudi_table`."""
