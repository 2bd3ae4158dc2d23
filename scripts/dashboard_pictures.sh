#!/bin/bash
# Makes the pictures of docs/dashboard.md.
#
# tests/serve/pictures.mjs makes them with the command of a build, by the packages of the tests.
#
#   scripts/dashboard_pictures.sh [BUILD_FOLDER]        build/dev, if none is given
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/dev}")
tests/serve/run.sh packages "$build/tests/serve"
TABLEQ_COMMAND=$build/tools/tableq TABLEQ_NODE_MODULES=$build/tests/serve/node_modules \
  node tests/serve/pictures.mjs docs/dashboard
