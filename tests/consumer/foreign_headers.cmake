# A public header compiles alone, without a warning, and includes only headers of the standard
# library and tableq. In: HEADER, INCLUDE, COMPILER, WORK.
file(WRITE ${WORK}/${HEADER}.cpp "#include <tableq/${HEADER}>\n")
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -H -I${INCLUDE} -Wall -Wextra -Wpedantic -Wconversion
    -Wshadow -Werror ${WORK}/${HEADER}.cpp
  RESULT_VARIABLE status ERROR_VARIABLE reached)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${HEADER} does not compile alone:\n${reached}")
endif()
if(NOT reached MATCHES "tableq/${HEADER}")
  message(FATAL_ERROR "the compiler listed no headers")
endif()
string(REGEX MATCHALL "[^\n]*/(soci|boost|nlohmann|fmt|CLI|postgresql)/[^\n]*" foreign "${reached}")
string(REGEX MATCHALL "[^\n]*/(sqlite3|libpq-fe|sql|sqlext)[.]h[^\n]*" clients "${reached}")
if(foreign OR clients)
  message(FATAL_ERROR "${HEADER} reaches foreign headers: ${foreign} ${clients}")
endif()
