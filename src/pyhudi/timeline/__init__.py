"""What happened to a table, and when: both layouts, active and archived instants, and the clock of new ones."""
