#include "chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "words.hpp"

namespace tool::web {

namespace {

float highest(const history& past, float sample::*which) {
  float most = 0;
  for (const sample& each : past) {
    if (!std::isnan(each.*which)) most = std::max(most, each.*which);
  }
  return most;
}

/// The points as an SVG path; a value that is not known is a gap. The newest is at the right edge.
std::string path_of(const history& past, float sample::*which, float most, float width,
                    float height) {
  std::string out;
  bool drawing = false;
  for (std::size_t i = 0; i < past.size(); ++i) {
    const float value = past[i].*which;
    if (std::isnan(value)) {
      drawing = false;
      continue;
    }
    const float x = width * static_cast<float>(most_samples - past.size() + i) /
                    static_cast<float>(most_samples - 1);
    const float y = height - 1 - (most > 0 ? value / most : 0) * (height - 2);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%c%.1f %.1f", drawing ? 'L' : 'M', x, y);
    out += text.data();
    // A single point is a line without length, which round ends show.
    if (!drawing) out += "h0";
    drawing = true;
  }
  return out;
}

std::string value_words(float value) {
  return rate_words(static_cast<double>(value));
}

}  // namespace

html sparkline(const history* past) {
  if (past == nullptr || past->size() < 2) return html(R"(<span class="spark"></span>)");
  const float most = highest(*past, &sample::ready);
  return html(R"(<svg class="spark" viewBox="0 0 96 24" role="img" )"
              R"(aria-label="ready: now {}, at most {}"><path d="{}"/></svg>)",
              value_words(past->back().ready), value_words(most),
              path_of(*past, &sample::ready, most, 96, 24));
}

html chart(const history* past, std::chrono::milliseconds span, literal title, float sample::*first,
           literal first_name, float sample::*second, literal second_name) {
  html out(R"(<figure class="chart"><figcaption>{})", title);
  const bool two = second != nullptr;
  if (two) {
    out.put(R"( <span class="key one">{}</span> <span class="key two">{}</span>)", first_name,
            second_name);
  }
  if (past == nullptr || past->size() < 2) {
    out.put(R"(</figcaption><p class="quiet">The picture begins soon.</p></figure>)");
    return out;
  }
  const float most = std::max(highest(*past, first), two ? highest(*past, second) : 0);
  out.put(R"( <span class="most">at most {}</span></figcaption>)", value_words(most));
  out.put(
      R"(<svg viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="{} in the last {}">)",
      title, span_words(span));
  out.put(R"(<path class="grid" d="M0 1H600M0 60H600M0 119H600"/>)");
  out.put(R"(<path class="one" d="{}"/>)", path_of(*past, first, most, 600, 120));
  if (two) out.put(R"(<path class="two" d="{}"/>)", path_of(*past, second, most, 600, 120));
  out.put(
      R"(</svg><p class="axis"><span>{} ago</span><span>{}</span><span>now</span></p></figure>)",
      span_words(span), span_words(span / 2));
  return out;
}

}  // namespace tool::web
