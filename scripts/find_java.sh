#!/usr/bin/env bash
# Prints the home of a Java that can run Spark: version 17 or 21 with the module jdk.incubator.vector, without which Spark 4.1
# does not start. JAVA_HOME comes first, then the java on the PATH, then the usual folders; when none serves, one is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

serves() {
    local java="$1/bin/java" version modules
    [ -x "$java" ] || return 1
    version=$("$java" -version 2>&1) || return 1
    grep -Eq 'version "(17|21)[."]' <<<"$version" || return 1
    modules=$("$java" --list-modules 2>/dev/null) || return 1
    grep -q '^jdk\.incubator\.vector' <<<"$modules"
}

candidates() {
    local java path
    if [ -n "${JAVA_HOME:-}" ]; then echo "$JAVA_HOME"; fi
    if java=$(command -v java) && path=$(readlink -f "$java"); then dirname "$(dirname "$path")"; fi
    for path in /usr/lib/jvm/*17* /usr/lib/jvm/*21* "$HOME"/.sdkman/candidates/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        if [ -d "$path" ]; then echo "$path"; fi
    done
}

find_one() {
    local home
    while IFS= read -r home; do
        if serves "$home"; then
            echo "$home"
            return 0
        elif [ "$home" = "${JAVA_HOME:-}" ]; then
            echo "JAVA_HOME=$home cannot run Spark (Java 17 or 21 with jdk.incubator.vector is needed); looking for another." >&2
        fi
    done < <(candidates)
    return 1
}

if ! find_one; then
    echo "No Java 17 or 21 was found; installing one." >&2
    "$here/apt_install.sh" openjdk-17-jre-headless openjdk-21-jre-headless
    find_one || { echo "Java was installed, but none that can run Spark was found. Set JAVA_HOME to a Java 17 or 21." >&2; exit 1; }
fi
