"""One contestant a file. Each has a class `Contestant(inputs: Path, work: Path)` with the methods of `bench.worker.METHODS`."""
