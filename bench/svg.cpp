#include "svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace bench {

namespace {

constexpr double width = 720;
constexpr double height = 400;
constexpr double left = 80;
constexpr double right = 40;
constexpr double top = 50;
constexpr double bottom = 60;
constexpr std::array<const char*, 6> colours = {"#1b6ca8", "#c0392b", "#2e8b57",
                                                "#8e44ad", "#d68910", "#555555"};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 1 ? "%.3g" : "%.0f", value);
  return text.data();
}

std::string place(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

/// The positions of values in the picture.
class scale {
 public:
  explicit scale(const std::vector<line>& lines) {
    double least = 1e300;
    double most = 0;
    for (const line& each : lines) {
      for (const auto& [x, y] : each.points) {
        last_x_ = std::max(last_x_, x);
        if (y <= 0) continue;
        least = std::min(least, y);
        most = std::max(most, y);
      }
    }
    if (most == 0) least = most = 1;
    low_ = std::floor(std::log10(least));
    high_ = std::max(low_ + 1, std::ceil(std::log10(most)));
    last_x_ = std::max(last_x_, 1.0);
  }
  [[nodiscard]] double x(double value) const {
    return left + (width - left - right) * value / last_x_;
  }
  [[nodiscard]] double y(double value) const {
    const double share = (std::log10(std::max(value, 1e-9)) - low_) / (high_ - low_);
    return height - bottom - (height - top - bottom) * std::clamp(share, 0.0, 1.0);
  }
  [[nodiscard]] double last_x() const { return last_x_; }
  [[nodiscard]] int low() const { return static_cast<int>(low_); }
  [[nodiscard]] int high() const { return static_cast<int>(high_); }

 private:
  double last_x_ = 0;
  double low_ = 0;
  double high_ = 0;
};

/// The next number of the form 1, 2 or 5 times a power of ten.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least) return times * power;
  }
  return 10 * power;
}

std::string text(double x, double y, const std::string& what, const std::string& anchor,
                 const std::string& more = {}) {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\" text-anchor=\"" + anchor + "\"" +
         more + ">" + escaped(what) + "</text>\n";
}

std::string rule(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + place(x1) + "\" y1=\"" + place(y1) + "\" x2=\"" + place(x2) + "\" y2=\"" +
         place(y2) + "\" stroke=\"#bbbbbb\"/>\n";
}

std::string axes(const scale& scales, const std::string& x_label, const std::string& y_label) {
  std::string out;
  for (int power = scales.low(); power <= scales.high(); ++power) {
    const double value = std::pow(10, power);
    out += rule(left, scales.y(value), width - right, scales.y(value));
    out += text(left - 6, scales.y(value) + 4, number(value), "end");
  }
  const double step = round_step(scales.last_x() / 6);
  for (double value = 0; value <= scales.last_x(); value += step) {
    out += rule(scales.x(value), height - bottom, scales.x(value), height - bottom + 5);
    out += text(scales.x(value), height - bottom + 20, number(value), "middle");
  }
  out += text((left + width - right) / 2, height - 14, x_label, "middle");
  const std::string middle = place((top + height - bottom) / 2);
  out += text(18, (top + height - bottom) / 2, y_label, "middle",
              " transform=\"rotate(-90 18 " + middle + ")\"");
  return out;
}

}  // namespace

std::string diagram(const std::string& title, const std::string& x_label,
                    const std::string& y_label, const std::vector<line>& lines) {
  const scale scales(lines);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) +
                    " " + number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text(left, 22, title, "start", " font-size=\"15\"");
  out += axes(scales, x_label, y_label);
  double label_x = left;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string colour = colours.at(i % colours.size());
    out += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" points=\"";
    for (const auto& [x, y] : lines[i].points)
      out += place(scales.x(x)) + "," + place(scales.y(y)) + " ";
    out += "\"/>\n";
    out += text(label_x, 42, lines[i].label, "start", " fill=\"" + colour + "\"");
    label_x += 20 + 7 * static_cast<double>(lines[i].label.size());
  }
  return out + "</svg>\n";
}

}  // namespace bench
