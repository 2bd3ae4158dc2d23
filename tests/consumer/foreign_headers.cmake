# The public headers include only headers of the standard library and tableq, and the one with the
# macros of SOCI's version. In: INCLUDE, COMPILER, WORK.
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/tableq/*.hpp)
# Opt-in: made of Asio, and for those who have the SDK.
list(FILTER headers EXCLUDE REGEX "^tableq/(asio|opentelemetry)")
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE lines)
list(JOIN lines "" text)
file(WRITE ${WORK}/all.cpp "${text}")
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -H -I${INCLUDE} ${WORK}/all.cpp
  RESULT_VARIABLE status ERROR_VARIABLE reached)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the public headers do not compile:\n${reached}")
endif()
if(NOT reached MATCHES "tableq/database.hpp")
  message(FATAL_ERROR "the compiler listed no headers")
endif()
string(REGEX REPLACE "[^\n]*/soci/version[.]h\n" "" reached "${reached}")
string(REGEX MATCHALL "[^\n]*/(soci|boost|nlohmann|fmt|CLI|postgresql)/[^\n]*" foreign "${reached}")
string(REGEX MATCHALL "[^\n]*/(sqlite3|libpq-fe|sql|sqlext)[.]h[^\n]*" clients "${reached}")
if(foreign OR clients)
  message(FATAL_ERROR "a public header reaches foreign headers: ${foreign} ${clients}")
endif()
