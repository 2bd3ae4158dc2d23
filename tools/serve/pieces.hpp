#pragma once

#include "overview.hpp"
#include "selection.hpp"
#include "serve_assets.hpp"
#include "words.hpp"

namespace tool::web {

/// A value with its name: a fact, a tile, or a cell of a table.
struct item {
  html name;
  html value;
  std::string_view style = {};
  std::string link = {};        ///< The tile's page; of a cell: to the table sorted by its column.
  std::string_view order = {};  ///< Of a cell: how the table is sorted by its column.
};
/// The first cell names the row.
struct row {
  std::vector<item> cells = {};
  std::string live = {};  ///< Names it for the script.
};

}  // namespace tool::web
