# Guards of the compiler and the linker against mistakes in memory, for the library's own code and
# the command; never passed on to users of the library. Flags that a compiler does not know are left
# out.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

set(tableq_hardening_flags)
set(tableq_hardening_link_flags)
# Sanitizers find more errors, and do not work with fortified functions. MinGW's guards need a library of their own.
if(TABLEQ_HARDENING AND NOT MINGW AND NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "tableq_knows${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      list(APPEND tableq_hardening_flags ${flag})
    endif()
  endforeach()
  foreach(flag relro now noexecstack)
    check_linker_flag(CXX "LINKER:-z,${flag}" tableq_links_${flag})
    if(tableq_links_${flag})
      list(APPEND tableq_hardening_link_flags "LINKER:-z,${flag}")
    endif()
  endforeach()
  check_pie_supported(LANGUAGES CXX)
  # Functions that check the size of their output; they need an optimising compiler.
  list(APPEND tableq_hardening_flags
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>"
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=2>")
endif()

function(tableq_harden target)
  target_compile_options(${target} PRIVATE ${tableq_hardening_flags})
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL STATIC_LIBRARY)
    target_link_options(${target} PRIVATE ${tableq_hardening_link_flags})
  endif()
  if(TABLEQ_HARDENING)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()
