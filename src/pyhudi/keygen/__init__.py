"""Record keys and partition paths, one record at a time and obvious: what `kernels.keys.key_kernels` is compared with."""
