#pragma once

#include "core/seam/batch_requests.hpp"
#include "core/seam/catalog_requests.hpp"
#include "core/seam/claim_requests.hpp"
#include "core/seam/limit_requests.hpp"
#include "core/seam/queue_requests.hpp"
#include "core/seam/schedule_requests.hpp"
#include "core/seam/table_requests.hpp"

#define TABLEQ_TYPED(group, name, shared, item, row, ...) \
  inline constexpr typed_statement<shared, item, row> group##_##name{statement::group##_##name};

/// All statements with their types, as `claim_take`.
namespace tableq::inline v0::core::statements {

TABLEQ_STATEMENTS(TABLEQ_TYPED, TABLEQ_TYPED, TABLEQ_TYPED)

}  // namespace tableq::inline v0::core::statements
