# Interface targets for the libraries that tableq needs. Debian's SOCI has no package configuration
# of its own, so it is found by header and library.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(Boost 1.74 REQUIRED)  # its headers

include(${CMAKE_CURRENT_LIST_DIR}/tableq_soci.cmake)

# SOCI: targets of the project, or of a package; else Debian's.
tableq_soci_target(soci_core_target core)
if(NOT soci_core_target)
  find_package(SOCI CONFIG QUIET)
  tableq_soci_target(soci_core_target core)
endif()

# Makes the interface of one part. `result` is what the linker is told.
function(tableq_add_soci name part result)
  add_library(${name} INTERFACE)
  if(soci_core_target)
    tableq_soci_target(target ${part})
    if(NOT target)
      message(FATAL_ERROR "the SOCI of this project (target ${soci_core_target}) has no soci_${part}: build that part, or "
        "switch the database of tableq off")
    endif()
    target_link_libraries(${name} INTERFACE ${target})
    # SOCI's own headers raise warnings that are errors here.
    target_include_directories(${name} SYSTEM INTERFACE
      $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    set(${result} soci_${part} PARENT_SCOPE)
  else()
    string(TOUPPER ${part} upper)
    find_library(TABLEQ_SOCI_${upper} soci_${part} REQUIRED)
    target_link_libraries(${name} INTERFACE ${TABLEQ_SOCI_${upper}})
    set(${result} ${TABLEQ_SOCI_${upper}} PARENT_SCOPE)
  endif()
endfunction()

tableq_add_soci(tableq_soci core soci_core_library)
if(soci_core_target)
  tableq_soci_version_of(TABLEQ_SOCI_VERSION ${soci_core_target})
  # Inside a project SOCI 4.0 makes a header there, and tells no one.
  if(EXISTS "${SOCI_BINARY_DIR}/include")
    target_include_directories(tableq_soci SYSTEM INTERFACE ${SOCI_BINARY_DIR}/include)
  endif()
else()
  find_path(TABLEQ_SOCI_INCLUDE_DIR soci/soci.h REQUIRED)
  target_include_directories(tableq_soci SYSTEM INTERFACE ${TABLEQ_SOCI_INCLUDE_DIR})
  tableq_soci_version(TABLEQ_SOCI_VERSION ${TABLEQ_SOCI_INCLUDE_DIR})
endif()
if(NOT TABLEQ_SOCI_VERSION)
  message(FATAL_ERROR "SOCI's soci/version.h is not found")
endif()
tableq_soci_series(soci_series ${TABLEQ_SOCI_VERSION})
get_filename_component(soci_file ${soci_core_library} REALPATH)
if(NOT soci_core_target AND soci_file MATCHES "[.]so[.]([0-9]+[.][0-9]+)" AND
    NOT CMAKE_MATCH_1 STREQUAL soci_series)
  message(FATAL_ERROR "the headers in ${TABLEQ_SOCI_INCLUDE_DIR} are of SOCI ${soci_series}, and ${soci_file} is not: "
    "give both of one SOCI by CMAKE_PREFIX_PATH")
endif()
if(NOT BUILD_SHARED_LIBS)
  tableq_soci_check_at_the_end(${TABLEQ_SOCI_VERSION})
endif()

if(TABLEQ_SQLITE)
  pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3>=3.35)
  tableq_add_soci(tableq_sqlite sqlite3 soci_sqlite3_library)
  target_link_libraries(tableq_sqlite INTERFACE tableq_soci
    PkgConfig::sqlite3)
endif()

if(TABLEQ_POSTGRESQL)
  pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
  tableq_add_soci(tableq_libpq postgresql soci_postgresql_library)
  target_link_libraries(tableq_libpq INTERFACE tableq_soci
    PkgConfig::libpq)
endif()

if(TABLEQ_SQLSERVER AND NOT TABLEQ_ODBC)
  message(FATAL_ERROR "TABLEQ_SQLSERVER needs TABLEQ_ODBC")
endif()
if(TABLEQ_ODBC)
  set(odbc_library odbc32)
  if(NOT WIN32)
    pkg_check_modules(odbc REQUIRED IMPORTED_TARGET odbc)
    set(odbc_library PkgConfig::odbc)
  endif()
  tableq_add_soci(tableq_odbc odbc soci_odbc_library)
  target_link_libraries(tableq_odbc INTERFACE tableq_soci ${odbc_library})
endif()
