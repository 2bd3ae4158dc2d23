#include "support/sqlserver_plan.hpp"

#include <cstddef>
#include <vector>

#include "support/text.hpp"

namespace tableq_test {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A RelOp.
struct step {
  std::string name = {};
  std::size_t parent = none;
  std::size_t place = 0;  ///< Its index among the children of its parent.
  std::size_t children = 0;
  bool ordered = false;
  bool filters = false;  ///< Discards some of the rows that it reads.
};
using steps = std::vector<step>;

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string opening = " " + std::string(name) + "=\"";
  const std::size_t at = tag.find(opening);
  if (at == std::string_view::npos) return {};
  const std::size_t start = at + opening.size();
  return std::string(tag.substr(start, tag.find('"', start) - start));
}

/// The end of the tag that begins at `at`; values may hold a `>`.
std::size_t end_of_tag(std::string_view text, std::size_t at) {
  bool quoted = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '>' && !quoted) return at;
  }
  return text.size();
}

steps parsed(std::string_view text) {
  steps out;
  std::vector<std::size_t> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const std::size_t end = end_of_tag(text, at);
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/", 1));
    at = end;
    if (name == "RelOp") {
      step& added = out.emplace_back();
      added.name = attribute(tag, "PhysicalOp");
      if (!open.empty()) {
        added.parent = open.back();
        added.place = out[open.back()].children++;
      }
      open.push_back(out.size() - 1);
    } else if (name == "/RelOp") {
      if (!open.empty()) open.pop_back();
    } else if (!open.empty() && name == "IndexScan") {
      const std::string ordered = attribute(tag, "Ordered");
      out[open.back()].ordered = ordered == "true" || ordered == "1";
    } else if (!open.empty() && name == "Predicate") {
      out[open.back()].filters = true;
    }
  }
  return out;
}

bool seeks(const step& each) {
  return contains(each.name, "Index Seek") || each.name == "RID Lookup" ||
         each.name == "Key Lookup";
}

bool scans(const step& each) {
  return contains(each.name, "Index Scan") || each.name == "Table Scan";
}

bool gathers(const step& each) {
  return each.name == "Sort" || each.name == "Hash Match" || contains(each.name, "Spool");
}

/// The step that would collect all rows of `leaf`; none if a Top comes first, or if the leaf is
/// sought once for each row of another step.
std::size_t gatherer(const steps& all, std::size_t leaf) {
  for (std::size_t at = leaf; all[at].parent != none; at = all[at].parent) {
    const step& parent = all[all[at].parent];
    if (parent.name == "Top") return none;
    if (parent.name == "Nested Loops" && all[at].place > 0 && seeks(all[leaf])) return none;
    if (gathers(parent)) return all[at].parent;
  }
  return none;
}

bool under_top(const steps& all, std::size_t at) {
  for (at = all[at].parent; at != none; at = all[at].parent) {
    if (all[at].name == "Top") return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> sqlserver_complaint(std::string_view showplan) {
  const steps all = parsed(showplan);
  if (all.empty()) return "no plan";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!seeks(all[i]) && !scans(all[i])) continue;
    if (scans(all[i]) && (!all[i].ordered || all[i].filters || !under_top(all, i))) {
      return all[i].name + " of everything";
    }
    const std::size_t above = gatherer(all, i);
    if (above != none) return all[above].name + " of all that " + all[i].name + " finds";
  }
  return {};
}

}  // namespace tableq_test
