"""The command line: `python -m pyhudi COMMAND`. Each command is a module; `main` puts them together."""
