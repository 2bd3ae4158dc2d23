#pragma once

#include <vector>

namespace bench {

/// The middle one, or the mean of the two in the middle. Zero of nothing.
double median(std::vector<double> values);

/// The value that `share` of all, from 0 to 1, do not exceed. Zero of nothing.
double percentile(std::vector<double> values, double share);

/// The distance from the least to the greatest, as a share of the median.
double spread(const std::vector<double>& values);

}  // namespace bench
