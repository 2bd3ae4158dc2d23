#pragma once

/// @file
/// The version of the headers. CMakeLists.txt reads it from here: this is the only place to change
/// it.

#define TABLEQ_VERSION_MAJOR 0
#define TABLEQ_VERSION_MINOR 2
#define TABLEQ_VERSION_PATCH 0
