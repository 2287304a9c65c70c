#!/usr/bin/env bash
# Prints the folder in which the tests of a run make their files. Each write is flushed to the disk (fsync), tens of thousands of times in a
# run: a file system in memory takes these waits away. It is used where it has room; the tests with servers and with Apache Hudi stay on
# the disk, so that both kinds are tested.
set -euo pipefail
needed_kib=$((4 * 1024 * 1024))
memory=/dev/shm
folder=${TMPDIR:-/tmp}
if [ -w "$memory" ] && [ -r /proc/meminfo ] \
    && [ "$(df --output=avail -k "$memory" | tail -n 1)" -ge "$needed_kib" ] \
    && [ "$(awk '$1 == "MemAvailable:" {print $2}' /proc/meminfo)" -ge $((2 * needed_kib)) ]; then
    folder=$memory/pyhudi-tests-$(id -u)
    mkdir -p -m 700 "$folder"
fi
echo "$folder"
