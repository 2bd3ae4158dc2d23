#pragma once

/// @file
/// ODBC's C interface.

#if defined(_WIN32)
#include <windows.h>
#endif

#include <sql.h>
#include <sqlext.h>
