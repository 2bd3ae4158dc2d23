# Warnings for the project's own code; never passed on to users of the library.
function(tableq_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # The statements of a database are one literal, longer than the standard's 65,536 characters.
    target_compile_options(${target} PRIVATE -Wthread-safety -Wno-overlength-strings)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms of g++ 12 at -O2 and above: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(TABLEQ_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
