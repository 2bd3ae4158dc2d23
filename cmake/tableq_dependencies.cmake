# Interface targets for the libraries that tableq needs. Debian's SOCI has no package configuration
# of its own, so it is found by header and library.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)

find_path(TABLEQ_SOCI_INCLUDE_DIR soci/soci.h REQUIRED)
find_library(TABLEQ_SOCI_CORE soci_core REQUIRED)
add_library(tableq_soci INTERFACE)
target_include_directories(tableq_soci SYSTEM INTERFACE ${TABLEQ_SOCI_INCLUDE_DIR})
target_link_libraries(tableq_soci INTERFACE ${TABLEQ_SOCI_CORE})

if(TABLEQ_SQLITE)
  pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3>=3.35)
  find_library(TABLEQ_SOCI_SQLITE3 soci_sqlite3 REQUIRED)
  add_library(tableq_sqlite INTERFACE)
  target_link_libraries(tableq_sqlite INTERFACE ${TABLEQ_SOCI_SQLITE3} tableq_soci
    PkgConfig::sqlite3)
endif()

if(TABLEQ_POSTGRESQL)
  pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
  find_library(TABLEQ_SOCI_POSTGRESQL soci_postgresql REQUIRED)
  add_library(tableq_libpq INTERFACE)
  target_link_libraries(tableq_libpq INTERFACE ${TABLEQ_SOCI_POSTGRESQL} tableq_soci
    PkgConfig::libpq)
endif()

if(TABLEQ_SQLSERVER AND NOT TABLEQ_ODBC)
  message(FATAL_ERROR "TABLEQ_SQLSERVER needs TABLEQ_ODBC")
endif()
if(TABLEQ_ODBC)
  pkg_check_modules(odbc REQUIRED IMPORTED_TARGET odbc)
  find_package(Boost 1.74 REQUIRED)
  find_library(TABLEQ_SOCI_ODBC soci_odbc REQUIRED)
  add_library(tableq_odbc INTERFACE)
  target_link_libraries(tableq_odbc INTERFACE ${TABLEQ_SOCI_ODBC} tableq_soci PkgConfig::odbc)
  target_include_directories(tableq_odbc SYSTEM INTERFACE ${Boost_INCLUDE_DIRS})
endif()
