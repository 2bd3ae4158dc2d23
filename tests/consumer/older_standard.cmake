# With C++17 each public header ends in one error, which says what is needed. In: INCLUDE, COMPILER, WORK.
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/tableq/*.hpp)
# The first has macros only, the second includes headers of the SDK.
list(REMOVE_ITEM headers tableq/version.hpp tableq/opentelemetry.hpp)
foreach(header ${headers})
  file(WRITE ${WORK}/one.cpp "#include <${header}>\n")
  execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only -I${INCLUDE} ${WORK}/one.cpp
    RESULT_VARIABLE status ERROR_VARIABLE said)
  string(REGEX MATCHALL "error: [^\n]*" errors "${said}")
  list(LENGTH errors count)
  if(status EQUAL 0 OR NOT count EQUAL 1 OR NOT said MATCHES "tableq needs C[+][+]20")
    message(FATAL_ERROR "${header} with C++17:\n${said}")
  endif()
endforeach()
