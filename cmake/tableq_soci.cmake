# The SOCI that a project already has, as targets. Installed too: the package configuration asks the
# same questions.

# The target of a part, empty without one. Names of SOCI 4.1, then of 4.0, each as a package or as a
# part of the project.
function(tableq_soci_target result part)
  set(names_core Core)
  set(names_sqlite3 SQLite3)
  set(names_postgresql PostgreSQL)
  set(names_odbc ODBC)
  set(${result} "" PARENT_SCOPE)
  foreach(name SOCI::${names_${part}} SOCI::soci_${part} SOCI::soci_${part}_static soci_${part}
      soci_${part}_static)
    if(TARGET ${name})
      set(${result} ${name} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The number in soci/version.h of the first of these folders that has it: 400003 is 4.0.3.
function(tableq_soci_version result)
  set(${result} "" PARENT_SCOPE)
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${folder}/soci/version.h")
      file(STRINGS "${folder}/soci/version.h" line REGEX "#define SOCI_VERSION ")
      string(REGEX MATCH "[0-9]+" number "${line}")
      set(${result} "${number}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The same of a target.
function(tableq_soci_version_of result target)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  # Conditions: a part of the project has them for its build, Conan's targets for a configuration.
  string(REGEX REPLACE "\\$<(\\$<[^>]*>|BUILD_INTERFACE):|>" "" folders "${folders}")
  tableq_soci_version(number ${folders})
  set(${result} "${number}" PARENT_SCOPE)
endfunction()

# 400003 as 4.0: releases with the same first two numbers fit together.
function(tableq_soci_series result number)
  math(EXPR major "${number} / 100000")
  math(EXPR minor "${number} / 100 % 1000")
  set(${result} ${major}.${minor} PARENT_SCOPE)
endfunction()

# Empty, or what is wrong if the project has a SOCI of another series than the one of this number.
function(tableq_soci_mix result number)
  set(${result} "" PARENT_SCOPE)
  tableq_soci_target(target core)
  if(NOT target)
    return()
  endif()
  tableq_soci_version_of(theirs ${target})
  if(NOT theirs)
    return()
  endif()
  tableq_soci_series(series ${number})
  tableq_soci_series(other ${theirs})
  if(NOT series STREQUAL other)
    string(CONCAT sentence "tableq is built with SOCI ${series}, and this project has SOCI ${other} (target ${target}): "
      "a program with both would damage its memory. Make the project's SOCI known before tableq, and build tableq "
      "in the project, or with that SOCI; or use tableq as a shared library (docs/drivers.md, One SOCI)")
    set(${result} "${sentence}" PARENT_SCOPE)
  endif()
endfunction()

# At the end of the project, which may get its SOCI after tableq.
function(tableq_soci_check_at_the_end number)
  get_property(asked GLOBAL PROPERTY tableq_soci_asked)
  if(asked)
    return()
  endif()
  set_property(GLOBAL PROPERTY tableq_soci_asked ON)
  # A deferred call reads variables when it runs, so the number is written into it.
  cmake_language(EVAL CODE
    "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL tableq_soci_refuse_mix ${number})")
endfunction()
function(tableq_soci_refuse_mix number)
  tableq_soci_mix(wrong ${number})
  if(wrong)
    message(FATAL_ERROR "${wrong}")
  endif()
endfunction()
