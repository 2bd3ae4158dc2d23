#pragma once

/// @file
/// The macro that marks the exported symbols; all others stay hidden. Each header reaches this file
/// before its own code.

#if defined(_MSVC_LANG) ? _MSVC_LANG <= 201703L : __cplusplus <= 201703L
// A file that is missing ends the compilation at once; an #error is followed by hundreds of others.
#include "tableq needs C++20: compile with -std=c++20 (CMake: target_compile_features cxx_std_20)"
#endif

// A static tableq and its application are linked with one SOCI. Only a source that includes SOCI's
// headers before these is looked at; version.h has macros only.
#if defined(TABLEQ_STATIC) && defined(TABLEQ_SOCI_VERSION) && defined(SOCI_H_INCLUDED)
#include <soci/version.h>
static_assert(SOCI_VERSION / 100 == TABLEQ_SOCI_VERSION / 100,
              "tableq was built with another version of SOCI than <soci/soci.h> here: use one SOCI "
              "for both (docs/drivers.md, One SOCI)");
#endif

#if defined(TABLEQ_STATIC)
#define TABLEQ_EXPORT
#elif defined(_WIN32)
#if defined(TABLEQ_BUILDING)
#define TABLEQ_EXPORT __declspec(dllexport)
#else
#define TABLEQ_EXPORT __declspec(dllimport)
#endif
#else
#define TABLEQ_EXPORT __attribute__((visibility("default")))
#endif
