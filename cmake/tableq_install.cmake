# The files that `cmake --install` installs, and two ways to find the library: a CMake package and
# pkg-config. Both work for a static and a shared build. The components are those of packaging/deb.cmake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tableq)

# A user of a static library links its dependencies too. They are imported targets that the package
# configuration defines on the user's machine, so no path of this one is written.
if(NOT BUILD_SHARED_LIBS)
  target_link_libraries(tableq PRIVATE $<INSTALL_INTERFACE:tableq::soci>)
  if(TABLEQ_SQLITE)
    target_link_libraries(tableq PRIVATE $<INSTALL_INTERFACE:tableq::sqlite>)
  endif()
  if(TABLEQ_POSTGRESQL)
    target_link_libraries(tableq PRIVATE $<INSTALL_INTERFACE:tableq::libpq>)
  endif()
  if(TABLEQ_ODBC)
    target_link_libraries(tableq PRIVATE $<INSTALL_INTERFACE:tableq::odbc>)
  endif()
endif()

if(TARGET tableq_tool AND BUILD_SHARED_LIBS)
  file(RELATIVE_PATH to_library /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(tableq_tool PROPERTIES INSTALL_RPATH $ORIGIN/${to_library})
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS tableq EXPORT tableqTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tableqTargets NAMESPACE tableq:: DESTINATION ${package_dir})
if(TARGET tableq_c)
  install(TARGETS tableq_c EXPORT tableqCTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c_library NAMELINK_COMPONENT development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT c_library
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tableqCTargets NAMESPACE tableq:: DESTINATION ${package_dir})
  install(FILES ${PROJECT_SOURCE_DIR}/include/tableq.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tableq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/tableq
  FILES_MATCHING PATTERN "*.sql")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The examples' CMakeLists.txt is for the source tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
# Links to headers and DDL lead to where they are installed; links to sources become plain text.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(docs \"\${prefix}/${CMAKE_INSTALL_DOCDIR}\")
  set(include \"\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\")
  set(schema \"\${prefix}/${CMAKE_INSTALL_DATADIR}/tableq/schema\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/tableq_links.cmake\")")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tableqConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/tableqConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tableqConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/tableqConfig.cmake
  ${PROJECT_BINARY_DIR}/package/tableqConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/tableq_soci.cmake
  DESTINATION ${package_dir})

# How the linker finds a library: by name without a folder or in its default folders, by path
# otherwise.
function(tableq_link_words result)
  set(words)
  foreach(library ${ARGN})
    get_filename_component(folder ${library} DIRECTORY)
    get_filename_component(name ${library} NAME_WE)
    string(REGEX REPLACE "^lib" "" name ${name})
    if(folder STREQUAL "" OR folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND words " -l${name}")
    else()
      string(APPEND words " ${library}")
    endif()
  endforeach()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# pkg-config does not know that the library is static. So a static build names its dependencies in
# the public field: plain `pkg-config --libs` links either way. They are libraries and no modules,
# whose include folders would become the application's.
set(pc_libraries ${soci_core_library})
if(TABLEQ_SQLITE)
  list(PREPEND pc_libraries ${soci_sqlite3_library})
  list(APPEND pc_libraries ${sqlite3_LINK_LIBRARIES})
endif()
if(TABLEQ_POSTGRESQL)
  list(PREPEND pc_libraries ${soci_postgresql_library})
  list(APPEND pc_libraries ${libpq_LINK_LIBRARIES})
endif()
if(TABLEQ_ODBC)
  list(PREPEND pc_libraries ${soci_odbc_library})
  list(APPEND pc_libraries ${odbc_LINK_LIBRARIES})
endif()
tableq_link_words(pc_words ${pc_libraries})
set(pc_defines "-DTABLEQ_SOCI_VERSION=${TABLEQ_SOCI_VERSION}")
if(BUILD_SHARED_LIBS)
  set(pc_libs "-pthread\nLibs.private:${pc_words}")
else()
  set(pc_libs "-pthread${pc_words}")
  string(PREPEND pc_defines "-DTABLEQ_STATIC ")
endif()
if(WIN32 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  string(PREPEND pc_defines "-D_GLIBCXX_USE_POSIX_SEMAPHORE=1 ")
endif()
# Relative to the file itself, because `cmake --install --prefix` decides the place.
file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/tableq.pc.in ${PROJECT_BINARY_DIR}/package/tableq.pc
  @ONLY)
set(pc_files ${PROJECT_BINARY_DIR}/package/tableq.pc)
if(TARGET tableq_c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tableq-c.pc.in ${PROJECT_BINARY_DIR}/package/tableq-c.pc
    @ONLY)
  list(APPEND pc_files ${PROJECT_BINARY_DIR}/package/tableq-c.pc)
endif()
install(FILES ${pc_files}
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
