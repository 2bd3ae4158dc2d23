#include "support/sqlserver_plan.hpp"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cstddef>
#include <sstream>
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
  std::string index = {};
};
using steps = std::vector<step>;

using tree = boost::property_tree::ptree;

/// Adds the steps under a node, and what belongs to the step around it.
void collect(const tree& node, std::size_t around, steps& out) {
  for (const auto& [name, each] : node) {
    if (name == "RelOp") {
      step added{.name = each.get("<xmlattr>.PhysicalOp", ""), .parent = around};
      if (around != none) added.place = out[around].children++;
      out.push_back(added);
      collect(each, out.size() - 1, out);
      continue;
    }
    if (around != none && name == "IndexScan") {
      const std::string ordered = each.get("<xmlattr>.Ordered", "");
      out[around].ordered = ordered == "true" || ordered == "1";
    }
    if (around != none && name == "Predicate") out[around].filters = true;
    if (around != none && name == "Object") out[around].index = each.get("<xmlattr>.Index", "");
    collect(each, around, out);
  }
}

/// None of a text that is no plan.
steps parsed(const std::string& text) {
  steps out;
  tree all;
  std::istringstream in(text);
  try {
    boost::property_tree::read_xml(in, all);
    collect(all, none, out);
  } catch (const boost::property_tree::xml_parser_error&) {
    return {};
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

std::string sqlserver_steps(const std::string& showplan) {
  std::string out;
  for (const step& each : parsed(showplan)) {
    out += (out.empty() ? "" : " > ") + each.name + (each.index.empty() ? "" : " " + each.index);
  }
  return out.empty() ? "no steps" : out;
}

std::optional<std::string> sqlserver_complaint(const std::string& showplan) {
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
