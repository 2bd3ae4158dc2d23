# A software bill of materials, in CycloneDX's form (JSON, 1.4), of this build: the libraries that
# CMake found, with their versions. Installed as tableq.cdx.json. The same build gives the same
# text, without a time or a random number.

# name, version, licence, and the libraries that are linked; none for headers only.
function(tableq_sbom_component name version license)
  set(properties)
  foreach(library ${ARGN})
    list(APPEND properties "{\"name\": \"tableq:library\", \"value\": \"${library}\"}")
  endforeach()
  if(NOT ARGN)
    set(properties "{\"name\": \"tableq:linkage\", \"value\": \"headers\"}")
  endif()
  list(JOIN properties ", " properties)
  set_property(GLOBAL APPEND_STRING PROPERTY tableq_sbom_components ",
    {
      \"type\": \"library\",
      \"bom-ref\": \"${name}@${version}\",
      \"name\": \"${name}\",
      \"version\": \"${version}\",
      \"purl\": \"pkg:generic/${name}@${version}\",
      \"licenses\": [{\"license\": {\"id\": \"${license}\"}}],
      \"properties\": [${properties}]
    }")
  set_property(GLOBAL APPEND PROPERTY tableq_sbom_refs "\"${name}@${version}\"")
endfunction()

math(EXPR soci_patch "${TABLEQ_SOCI_VERSION} % 100")
set(soci_libraries libsoci_core)

tableq_sbom_component(nlohmann-json ${nlohmann_json_VERSION} MIT)
tableq_sbom_component(boost ${Boost_VERSION_STRING} BSL-1.0)
if(TABLEQ_SQLITE)
  tableq_sbom_component(sqlite ${sqlite3_VERSION} blessing libsqlite3)
  list(APPEND soci_libraries libsoci_sqlite3)
endif()
if(TABLEQ_POSTGRESQL)
  tableq_sbom_component(libpq ${libpq_VERSION} PostgreSQL libpq)
  list(APPEND soci_libraries libsoci_postgresql)
endif()
if(TABLEQ_ODBC)
  tableq_sbom_component(unixodbc ${odbc_VERSION} LGPL-2.1-or-later libodbc)
  list(APPEND soci_libraries libsoci_odbc)
endif()
tableq_sbom_component(soci "${soci_series}.${soci_patch}" BSL-1.0 ${soci_libraries})
get_property(cli11_version GLOBAL PROPERTY tableq_cli11_version)
if(cli11_version)
  tableq_sbom_component(cli11 ${cli11_version} BSD-3-Clause)
endif()

get_property(components GLOBAL PROPERTY tableq_sbom_components)
string(REGEX REPLACE "^,\n" "" components "${components}")
get_property(refs GLOBAL PROPERTY tableq_sbom_refs)
list(JOIN refs ", " refs)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/tableq.cdx.json @ONLY CONTENT [[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.4",
  "version": 1,
  "metadata": {
    "component": {
      "type": "library",
      "bom-ref": "tableq@@PROJECT_VERSION@",
      "name": "tableq",
      "version": "@PROJECT_VERSION@",
      "licenses": [{"license": {"id": "MIT"}}]
    }
  },
  "components": [
@components@
  ],
  "dependencies": [{"ref": "tableq@@PROJECT_VERSION@", "dependsOn": [@refs@]}]
}
]])
install(FILES ${PROJECT_BINARY_DIR}/package/tableq.cdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tableq)
