"""Running tasks: one protocol, and the engine that uses threads of this process. That of Spark is in `pyhudi.spark`."""
