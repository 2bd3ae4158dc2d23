# A toolchain for Windows: Debian's MinGW-w64. scripts/windows.sh passes WINDOWS_DEPENDENCIES, where it has built SOCI, SQLite
# and GoogleTest.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
foreach(language C CXX)
  set(compiler_C gcc)
  set(compiler_CXX g++)
  set(CMAKE_${language}_COMPILER x86_64-w64-mingw32-${compiler_${language}}-posix)
endforeach()
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WINDOWS_DEPENDENCIES)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${WINDOWS_DEPENDENCIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Programs that need no other file.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
