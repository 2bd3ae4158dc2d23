# What each .deb has beside the installed files: its copyright and changelog, and compressed manual pages. CPack runs
# this after it has installed the components and before it packs them.
find_program(GZIP gzip REQUIRED)

function(compress)
  if(ARGN)
    execute_process(COMMAND ${GZIP} -9n ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

set(time $ENV{SOURCE_DATE_EPOCH})
if(NOT time)
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${CPACK_TABLEQ_SOURCE} OUTPUT_VARIABLE time
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(time)
  set(ENV{SOURCE_DATE_EPOCH} ${time})
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(staged ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(doc ${staged}/share/doc/${package})
  file(READ ${CPACK_TABLEQ_SOURCE}/LICENSE licence)
  string(REGEX MATCH "Copyright [^\n]*" holder "${licence}")
  string(REPLACE "Copyright (c)" "Copyright:" holder_line "${holder}")
  string(REGEX REPLACE "^.*\n\n(Permission )" "\\1" licence "${licence}")
  string(REGEX REPLACE "\n+$" "" licence "${licence}")
  string(REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REPLACE "\n" "\n " licence "${licence}")
  file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tableq

Files: *
${holder_line}
License: Expat

License: Expat
 ${licence}
")
  file(WRITE ${doc}/changelog.Debian "tableq (${version}) unstable; urgency=medium

  * Packages of tableq ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${doc}/changelog.Debian)
  file(GLOB pages ${staged}/share/man/man1/*.1)
  compress(${pages})
endforeach()
