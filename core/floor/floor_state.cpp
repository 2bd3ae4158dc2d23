#include "core/floor/floor_state.hpp"

#include <nlohmann/json.hpp>

namespace tableq::inline v0::core {

std::string to_text(const floor_state& state) {
  return nlohmann::json{{"places", state.places},
                        {"oldest", state.oldest},
                        {"passed", state.passed},
                        {"known", state.known},
                        {"id", state.first_look_id},
                        {"time", state.first_look_time},
                        {"phase", static_cast<int>(state.writers.reached())},
                        {"writers", state.writers.writers()},
                        {"checked", state.checked.count()},
                        {"pause", state.pause.count()},
                        {"glanced", state.glanced.count()},
                        {"glance_pause", state.glance_pause.count()}}
      .dump();
}

std::optional<floor_state> to_floor_state(std::string_view text) {
  try {
    const nlohmann::json given = nlohmann::json::parse(text);
    const int phase = given.at("phase").get<int>();
    if (phase < 0 || phase > static_cast<int>(writers_watch::phase::over)) return std::nullopt;
    floor_state out{.oldest = given.at("oldest"),
                    .passed = given.at("passed"),
                    .known = given.at("known"),
                    .first_look_id = given.at("id"),
                    .first_look_time = given.at("time"),
                    .writers = {static_cast<writers_watch::phase>(phase), given.at("writers")},
                    .checked = std::chrono::milliseconds(given.at("checked").get<std::int64_t>()),
                    .pause = std::chrono::milliseconds(given.at("pause").get<std::int64_t>())};
    given.at("places").get_to(out.places);
    // Version 0.2.0 does not write these.
    const auto since = [&](const char* name, std::chrono::milliseconds otherwise) {
      return std::chrono::milliseconds(given.value(name, std::int64_t{otherwise.count()}));
    };
    out.glanced = since("glanced", out.checked);
    out.glance_pause = since("glance_pause", out.pause);
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tableq::inline v0::core
