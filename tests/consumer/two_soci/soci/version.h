#pragma once

#define SOCI_VERSION 400900
