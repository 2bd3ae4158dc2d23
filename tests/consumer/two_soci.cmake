# A program with two versions of SOCI is refused when its project is configured, when a source brings
# both together, and otherwise by the first `open`. In: SOURCE, WORK, PREFIX (a static tableq),
# GENERATOR, COMPILER.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{LC_ALL} C)

function(refused words)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status
    OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(status EQUAL 0 OR NOT said MATCHES "${words}")
    message(FATAL_ERROR "not refused (${status}): ${ARGN}\n${said}")
  endif()
endfunction()

foreach(after OFF ON)
  refused("this project has SOCI 4[.]9" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/after_${after} -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX} -DAFTER=${after})
endforeach()

file(GLOB_RECURSE pc ${PREFIX}/tableq.pc)
get_filename_component(folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND pkg-config --cflags tableq OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND pkg-config --libs tableq OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(libraries UNIX_COMMAND "${libraries}")
set(compile ${COMPILER} -std=c++20 -I${SOURCE} ${flags})
foreach(source meets beside)
  refused("tableq was built with another version of SOCI" ${compile} -fsyntax-only -Wfatal-errors ${SOURCE}/${source}.cpp)
endforeach()

execute_process(COMMAND ${compile} ${SOURCE}/main.cpp ${SOURCE}/own.cpp ${SOURCE}/soci.cpp -o program ${libraries}
  WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/program RESULT_VARIABLE status OUTPUT_VARIABLE said)
if(NOT status EQUAL 0 OR NOT said MATCHES "another SOCI than")
  message(FATAL_ERROR "not refused (${status}): ${said}")
endif()
