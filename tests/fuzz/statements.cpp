// Texts of dialects, which third parties write too: cut into blocks and statements, filled,
// compiled.

#include <tableq/error.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/seam/contract.hpp"
#include "drivers/blocks.hpp"
#include "drivers/text.hpp"
#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary
using namespace tableq::drivers;

std::string without(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tableq::dialect postgresql = tableq::find_dialect("postgresql");
  const tableq::core::table_names names{.schema = "s", .table = "mail"};
  const std::string_view text = text_of(data, size);
  const bool fragments = text.find("-- fragment:") != text.npos;
  for (const auto clock : {clock_source::database, clock_source::given}) {
    try {
      for (const auto& [name, block] : split_blocks(text, {.clock = clock})) {
        must(!name.empty() && name.find(' ') == std::string::npos, "a block has a name");
        must(fragments || block.size() <= text.size(), "a block is a part of the text");
      }
    } catch (const tableq::error& refused) {
      must(refused.code() == tableq::errc::invalid_argument, "only long texts and two of one name");
    }
  }
  std::string together;
  for (const std::string& each : split_script(text)) together += each;
  must(without(together, "; \n\r\t") == without(text, "; \n\r\t") || text.find(';') != text.npos,
       "a script without ends is one statement");
  must(without(together, ";") == together || text.find_first_of("'\"`$-") != text.npos,
       "no statement holds an end, but in quotes and comments");
  const std::string filled = fill_names(text, postgresql, names);
  static_cast<void>(fill_role(text, postgresql, names, "u"));
  for (const auto id : {tableq::core::statement::claim_take, tableq::core::statement::claim_enqueue,
                        tableq::core::statement::fifo_dequeue}) {
    for (const marker markers : {marker::numbered, marker::numbered_question, marker::question}) {
      for (const auto batches :
           {tableq::batching::loop, tableq::batching::arrays, tableq::batching::rows}) {
        try {
          const auto made = compile(filled, tableq::core::contract_of(id),
                                    {.markers = markers, .batches = batches, .rows = 3});
          must(made.parameters.size() <= 3 * text.size(), "each parameter stands in the text");
        } catch (const tableq::error& refused) {
          must(refused.code() == tableq::errc::invalid_argument, "an unknown parameter is told so");
        }
      }
    }
  }
  return 0;
}
