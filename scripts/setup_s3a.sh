#!/usr/bin/env bash
# Copies Hadoop's S3A and what it needs into a folder, of Maven's packages. Usage: JAVA_HOME=... setup_s3a.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
command -v mvn >/dev/null || "$here/apt_install.sh" maven
mvn --batch-mode --quiet --file "$here/s3a/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder" -DincludeScope=runtime
ls "$folder"/hadoop-aws-*.jar >/dev/null || { echo "Maven did not bring hadoop-aws to $folder." >&2; exit 1; }
