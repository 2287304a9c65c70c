"""What several commands have in common: options of the form KEY=VALUE, groups of commands, progress."""
