#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct line {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

/// A diagram: the x axis from 0, the y axis in powers of ten.
std::string diagram(const std::string& title, const std::string& x_label,
                    const std::string& y_label, const std::vector<line>& lines);

}  // namespace bench
