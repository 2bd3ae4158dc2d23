# Configures, builds and runs a project that consumes the library. In: SOURCE, BINARY, GENERATOR,
# COMPILER; optional: LAUNCHER, PREFIX (where tableq is installed), OPTIONS (more -D, with commas
# between them), INSTALL_TO.
file(REMOVE_RECURSE ${BINARY})
if(INSTALL_TO)
  file(REMOVE_RECURSE ${INSTALL_TO})
endif()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}")
  endif()
endfunction()

string(REPLACE "," ";" OPTIONS "${OPTIONS}")
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_PREFIX_PATH=${PREFIX} ${OPTIONS})
run(${CMAKE_COMMAND} --build ${BINARY} --parallel 2)
run(${BINARY}/consumer)
if(INSTALL_TO)
  run(${CMAKE_COMMAND} --install ${BINARY} --prefix ${INSTALL_TO})
endif()
