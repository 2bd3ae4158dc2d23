#pragma once

#include <opentelemetry/api.h>
