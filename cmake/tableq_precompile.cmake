# Headers that most files of a target read anyway, parsed once: a matter of build time alone. Each file
# still includes what it uses; the linter's build is made with CMAKE_DISABLE_PRECOMPILE_HEADERS, where
# a missing one is an error.
function(tableq_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <functional> <map> <memory> <mutex> <optional> <string> <thread>
    <vector> ${ARGN})
endfunction()
