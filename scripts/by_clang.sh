#!/bin/bash
# Compiles a C++ file by Clang instead of the compiler that is the first argument.
#
# The launcher of TABLEQ_PROGRAMS_BY_CLANG. Passes over options that GCC alone knows. A precompiled header has the templates that
# its functions need, and the files that include it need not make them again.
set -euo pipefail
shift
exec clang++-14 -Qunused-arguments -Wno-unknown-warning-option -fpch-instantiate-templates "$@"
