# Builds and runs the application with only pkg-config and the compiler. In: MAIN, WORK, PREFIX,
# COMPILER, STANDARD (its options), MODULE.
file(GLOB_RECURSE pc ${PREFIX}/${MODULE}.pc)
if(NOT pc)
  message(FATAL_ERROR "no ${MODULE}.pc below ${PREFIX}")
endif()
get_filename_component(folder ${pc} DIRECTORY)
get_filename_component(libraries ${folder} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
set(ENV{LD_LIBRARY_PATH} ${libraries})
set(ENV{CXX} ${COMPILER})
file(MAKE_DIRECTORY ${WORK})
# The application's include path has one folder more, and no client library's.
execute_process(COMMAND pkg-config --cflags ${MODULE} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "-I[^ \n]*" folders "${flags}")
list(LENGTH folders count)
if(NOT count EQUAL 1 OR NOT EXISTS ${PREFIX}/include/tableq)
  message(FATAL_ERROR "pkg-config --cflags names these folders: ${folders}")
endif()
execute_process(
  COMMAND sh -ec "\"$CXX\" ${STANDARD} $(pkg-config --cflags ${MODULE}) '${MAIN}' -o consumer \
    $(pkg-config --libs ${MODULE}) && ./consumer"
  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "failed (${status})")
endif()
