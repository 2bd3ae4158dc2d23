#pragma once

#include <vector>

namespace bench {

/// The median. Zero without values.
double median(std::vector<double> values);

/// The quantile of `share`, from 0 to 1. Zero without values.
double percentile(std::vector<double> values, double share);

/// The distance from the least to the greatest, as a share of the median.
double spread(const std::vector<double>& values);

}  // namespace bench
