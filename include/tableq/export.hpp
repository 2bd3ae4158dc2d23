#pragma once

/// @file
/// The macro that marks the exported symbols; all others stay hidden.

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
