#!/bin/sh
# The example in Node with koffi from npm, in a folder of its own: node.sh ADDRESS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$TABLEQ_NODE_FOLDER"
cp "$here"/../../examples/node/* "$here/node_loop.js" "$TABLEQ_NODE_FOLDER"
cd "$TABLEQ_NODE_FOLDER"
npm install --no-audit --no-fund --no-package-lock >npm.log 2>&1 || {
  cat npm.log
  exit 1
}
node main.js "$1" produce cat.jpg notes.txt sea.jpg
node main.js "$1" work 3 | LC_ALL=C sort
node node_loop.js "$1"
