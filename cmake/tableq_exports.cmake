# Keeps everything except tableq's own interface out of the shared library's symbol table. Hidden
# visibility does not reach the templates of the standard library, which would be exported too.
function(tableq_limit_exports target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL SHARED_LIBRARY AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    set(map ${PROJECT_SOURCE_DIR}/cmake/tableq.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()
