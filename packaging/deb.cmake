# The .deb packages: `cpack -G DEB` in the build folder. scripts/packages.sh does it as Debian wants them, of a shared
# build for /usr.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tableq)
set(CPACK_PACKAGE_VENDOR "The tableq authors")
# The variables that Debian's own tools read name the maintainer of the packages. Without them the address says that
# there is none.
set(contact "The tableq authors <maintainer@tableq.invalid>")
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
  set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(TABLEQ_PACKAGE_CONTACT ${contact} CACHE STRING "The maintainer that the packages name: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT ${TABLEQ_PACKAGE_CONTACT})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_stage.cmake)
set(CPACK_TABLEQ_SOURCE ${PROJECT_SOURCE_DIR})

set(about "tableq makes queues of tables of SQLite, PostgreSQL and SQL Server, so that\nwork and message commit together or not at all.")
set(version "${PROJECT_VERSION}-1")
set(CPACK_COMPONENTS_ALL)

# The file from which packages that link a library learn what to depend on. CPack's own would add calls of ldconfig.
function(tableq_deb_shlibs component library soversion package)
  file(WRITE ${PROJECT_BINARY_DIR}/package/${component}/shlibs
    "${library} ${soversion} ${package} (>= ${PROJECT_VERSION})\n")
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/${component}/shlibs
    ${debian}/triggers ${ARGN} PARENT_SCOPE)
endfunction()

# component, package, section, what is in it.
function(tableq_deb component package section holds)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${about}\n.\nThis package has ${holds}." PARENT_SCOPE)
endfunction()

set(debian ${CMAKE_CURRENT_LIST_DIR}/debian)
set(cpp_package libtableq-cpp${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(development_needs)
if(TARGET tableq_c)
  tableq_deb(c_library libtableq0 libs "the library for C and languages that call C")
  tableq_deb_shlibs(c_library libtableq 0 libtableq0 ${debian}/symbols)
  list(APPEND development_needs "libtableq0 (= ${version})")

  tableq_deb(python python3-tableq python "the module for Python 3")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any (>= 3.9), libtableq0 (>= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm)
  # Where the interpreter of Debian looks; elsewhere pip installs it.
  find_package(Python3 COMPONENTS Interpreter)
  install(CODE "
    set(site \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\")
    set(work \"${PROJECT_BINARY_DIR}/package/wheel\")
    file(REMOVE_RECURSE \"\${work}\")
    file(MAKE_DIRECTORY \"\${work}\")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/bindings/python/backend
        ${Python3_EXECUTABLE} -B -c \"import tableq_build as b; b.build_wheel('.')\"
      WORKING_DIRECTORY \"\${work}\" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB wheel \"\${work}/*.whl\")
    file(ARCHIVE_EXTRACT INPUT \${wheel} DESTINATION \"\${site}\")" COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(BUILD_SHARED_LIBS)
  tableq_deb(library ${cpp_package} libs "the library for C++")
  tableq_deb_shlibs(library libtableq-cpp ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${cpp_package})
  list(APPEND development_needs "${cpp_package} (= ${version})")
endif()
tableq_deb(development libtableq-dev libdevel "the headers, the documentation and examples")
list(JOIN development_needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
if(TARGET tableq_tool)
  tableq_deb(command tableq database "the command for the shell")
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
  if(BUILD_SHARED_LIBS)
    set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${cpp_package} (= ${version})")
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
include(CPack)
