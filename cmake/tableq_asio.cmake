# Sets TABLEQ_ASIO_INCLUDE_DIR to the folder of the separate Asio, or to nothing: then tests and examples that need it are left
# out. They have coroutines, which Asio 1.22 does not see with Clang and GCC's library.
include(CheckCXXSourceCompiles)
find_path(TABLEQ_ASIO_INCLUDE_DIR asio.hpp)
if(TABLEQ_ASIO_INCLUDE_DIR)
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  set(CMAKE_REQUIRED_INCLUDES ${TABLEQ_ASIO_INCLUDE_DIR})
  check_cxx_source_compiles("#include <asio/detail/config.hpp>
#if !defined(ASIO_HAS_CO_AWAIT)
#error none
#endif
int main() {}" TABLEQ_ASIO_HAS_COROUTINES)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(NOT TABLEQ_ASIO_HAS_COROUTINES)
    set(TABLEQ_ASIO_INCLUDE_DIR "")
  endif()
endif()
