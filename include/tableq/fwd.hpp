#pragma once

/// @file
/// Declares the classes of tableq without defining them. Do not declare them yourself: they are in
/// an inline namespace, whose name changes when programs have to be recompiled.

#include <tableq/export.hpp>

namespace tableq::inline v0 {

class batch;
class claim_queue;
class table_queue;
class database;
class destructive_queue;
class enlistment;
class error;
class fifo_queue;
class handled;
class handler;
class heap_queue;
class keeper;
class kept_delivery;
class leased_queue;
class lifo_queue;
class message_range;
class metrics;
class observer;
class payload_view;
class pending_queue;
class plain_queue;
class queue;
class receipts_view;
class schedules;
class scoped_delivery;
class text_view;
class transaction;  // NOLINT(bugprone-forward-declaration-namespace): SOCI has one, too
class watch;
class worker;

// Internal; applications cannot use it.
namespace core {
class access;
class worker_engine;
class database_state;
class fault_plan;
class keeper_state;
class kept_state;
class metric_store;
class queue_state;
class transaction_state;
class watch_state;
}  // namespace core

}  // namespace tableq::inline v0
