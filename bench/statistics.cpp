#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bench {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double spread(const std::vector<double>& values) {
  const double middle = median(values);
  if (middle == 0) return 0;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return (*greatest - *least) / middle;
}

}  // namespace bench
