# An overlay port: it builds the checkout that it stands in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES
    sqlite TABLEQ_SQLITE
    postgresql TABLEQ_POSTGRESQL
    sqlserver TABLEQ_ODBC
    sqlserver TABLEQ_SQLSERVER
    command TABLEQ_TOOLS)
# The C interface is always a shared library.
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic c_interface)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    -DTABLEQ_C=${c_interface}
    -DTABLEQ_TESTS=OFF
    -DTABLEQ_EXAMPLES=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tableq)
vcpkg_fixup_pkgconfig()
if("command" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tableq AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
