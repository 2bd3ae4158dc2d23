# Embeds a dialect's SQL files as constants. In: drivers/<name>/statements.sql, tables.sql and others,
# drivers/states.sql, drivers/statements.sql, drivers/table_parts.sql, schema/<name>/*.sql and
# schema/<name>/steps/*/*.sql. Out: <name>_sql.hpp in the build tree with `<name>_sql::statements`,
# `<name>_sql::setup` and so on, `<name>_sql::ddl()` and `<name>_sql::steps()`.
# Comments are stripped; the `-- name:` lines of the statements, the roles and the steps stay.
set(TABLEQ_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_sql.cmake)

function(tableq_embed_dialect target name)
  set(statements ${PROJECT_SOURCE_DIR}/drivers/${name}/statements.sql)
  set(tables ${PROJECT_SOURCE_DIR}/drivers/${name}/tables.sql)
  set(files)
  foreach(file catalog heap fifo lifo pending claim turns concurrency roles)
    list(APPEND files ${PROJECT_SOURCE_DIR}/schema/${name}/${file}.sql)
  endforeach()
  file(GLOB steps CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/${name}/steps/*/*.sql)
  set(states ${PROJECT_SOURCE_DIR}/drivers/states.sql)
  if(NOT name STREQUAL sqlserver)
    list(APPEND states ${PROJECT_SOURCE_DIR}/drivers/statements.sql)
  endif()
  set(parts ${PROJECT_SOURCE_DIR}/drivers/table_parts.sql)
  file(GLOB session CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/drivers/${name}/*.sql)
  list(REMOVE_ITEM session ${statements} ${tables})
  set(out ${PROJECT_BINARY_DIR}/generated/drivers/${name}/${name}_sql.hpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DOUT=${out}
      -DSTATEMENTS=${statements} -DTABLES=${tables} -DPARTS=${parts}
      "-DSTATES=${states}" "-DSESSION=${session}" "-DDDL=${files}" "-DSTEPS=${steps}" -P ${TABLEQ_EMBED_SCRIPT}
    DEPENDS ${statements} ${tables} ${parts} ${states} ${session} ${files} ${steps} ${TABLEQ_EMBED_SCRIPT}
    COMMENT "Embedding the SQL of ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
