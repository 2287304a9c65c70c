#!/usr/bin/env bash
# Runs a command as a named stage and says how long it took; the times of all stages of a run are in the file $STAGES, when that is set.
# Usage: timed.sh NAME COMMAND [ARGUMENT...]
set -uo pipefail
name=$1
shift
started=$SECONDS
"$@"
status=$?
line=$(printf '%-40s %5d s%s' "$name" $((SECONDS - started)) "$([ $status -eq 0 ] || echo ', FAILED')")
echo "stage: $line"
if [ -n "${STAGES-}" ]; then
    echo "$line" >>"$STAGES"
fi
exit $status
