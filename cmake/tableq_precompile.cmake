# Headers that most files of a target read anyway, parsed once to save build time. Each file still
# includes what it uses; the linter's build has CMAKE_DISABLE_PRECOMPILE_HEADERS, so that a missing
# include is an error there.
function(tableq_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <functional> <map> <memory> <mutex> <optional> <string> <thread>
    <vector> ${ARGN})
endfunction()
