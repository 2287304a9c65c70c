#!/usr/bin/env bash
# Makes the environment of Apache Hudi: Apache Hudi 1.2.0 on PySpark 3.5, apart from pyhudi's own. Usage: setup_hudi.sh FOLDER
# Leaves the path of its bundle in FOLDER/hudi-bundle, and that of 0.15.0, for tests of version 6, in FOLDER/hudi-0.15-bundle.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
artifact=hudi-spark3.5-bundle_2.12
repository=${MAVEN_REPO_LOCAL:-$HOME/.m2/repository}

bring() { # VERSION FILE: let Maven download a bundle unless it is there, and write its path to FILE
    local version=$1 jar="$repository/org/apache/hudi/$artifact/$1/$artifact-$1.jar"
    if [ ! -f "$jar" ]; then
        command -v mvn >/dev/null || "$here/apt_install.sh" maven
        mvn --batch-mode --quiet dependency:get -Dtransitive=false -Dmaven.repo.local="$repository" \
            -Dartifact="org.apache.hudi:$artifact:$version"
    fi
    [ -f "$jar" ] || { echo "Maven did not bring $artifact $version to $jar." >&2; exit 1; }
    echo "$jar" >"$2"
}

"$here/create_venv.sh" "$folder"
"$folder/bin/python" -m pip install --quiet 'pyspark==3.5.9' 'pandas<3' 'numpy<2' 'pyarrow<19'
bring 1.2.0 "$folder/hudi-bundle"
bring 0.15.0 "$folder/hudi-0.15-bundle"
