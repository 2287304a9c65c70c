"""Programs that show pyhudi at work; `make quickstart` runs the first one."""
