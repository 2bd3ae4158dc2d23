#!/bin/bash
# Lists the scripts, each with its purpose.
#
#   scripts/help.sh
set -euo pipefail
cd "$(dirname "$0")"

for script in *.sh *.py; do
  printf '%-36s %s\n' "scripts/$script" "$(sed -n '2{s/^# //;s/^"""//;p}' "$script")"
done
