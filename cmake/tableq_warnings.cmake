# Warnings for the project's own code; never passed on to users of the library.
function(tableq_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -Wthread-safety)
  endif()
  # GCC 12 warns of overlapping copies that cannot happen when it inlines operator+ of std::string
  # (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(TABLEQ_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
