#!/usr/bin/env bash
# Makes a folder with Trino and its Hudi connector, of Maven's packages: some 450 jars, 360 MB. Usage: setup_trino.sh FOLDER
# Leaves the home of the Java that runs it in FOLDER/java-home: Trino 483 needs Java 25, of JAVA_25_HOME or of the usual folders.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

java_25() {
    local home
    for home in "${JAVA_25_HOME:-}" /usr/lib/jvm/*25* "$HOME"/.sdkman/candidates/java/25*; do
        if [ -x "$home/bin/java" ] && "$home/bin/java" -version 2>&1 | grep -q 'version "25[."]'; then
            echo "$home"
            return 0
        fi
    done
    return 1
}

home=$(java_25) || { echo "Trino needs Java 25, and there is none; install one and set JAVA_25_HOME to its home." >&2; exit 1; }
command -v mvn >/dev/null || "$here/apt_install.sh" maven
JAVA_HOME=$home mvn --batch-mode --quiet --file "$here/trino/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$folder/jars" -DincludeScope=runtime
ls "$folder"/jars/trino-hudi-*.jar >/dev/null || { echo "Maven did not bring Trino's jars to $folder/jars." >&2; exit 1; }
echo "$home" >"$folder/java-home"
