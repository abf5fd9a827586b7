#!/bin/sh
# Build the wheel of this repository and install it, with what serves, into a new environment at $1.
# Build tools stay in a temporary folder; pip and setuptools are removed from the environment.
# The Containerfile and `make compose-check` call this script.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$1"
"$1/bin/pip" --disable-pip-version-check wheel --quiet --no-deps --wheel-dir "$tools" "$source"
"$1/bin/pip" --disable-pip-version-check install --quiet --only-binary :all: "$(echo "$tools"/*.whl)[serve]"
"$1/bin/pip" --disable-pip-version-check freeze > "$1/packages.txt"
"$1/bin/python" -m pip --disable-pip-version-check uninstall --quiet --yes pip setuptools
rm -f "$1"/bin/[Aa]ctivate* "$1"/bin/pip*
