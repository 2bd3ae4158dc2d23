#pragma once

#include <CLI/CLI.hpp>

#include "arguments.hpp"

namespace tool {

/// Each adds the subcommands of its file, which fill in `call` if the user gives one. Both must
/// outlive the parsing.
void add_create(CLI::App& app, invocation& call);
void add_enqueue(CLI::App& app, invocation& call);
void add_dequeue(CLI::App& app, invocation& call);
void add_work(CLI::App& app, invocation& call);
void add_top(CLI::App& app, invocation& call);
void add_take(CLI::App& app, invocation& call);
void add_settlements(CLI::App& app, invocation& call);
void add_looks(CLI::App& app, invocation& call);
void add_messages(CLI::App& app, invocation& call);
void add_wait(CLI::App& app, invocation& call);
void add_dead(CLI::App& app, invocation& call);
void add_batch(CLI::App& app, invocation& call);
void add_purge(CLI::App& app, invocation& call);
void add_dead_purge(CLI::App& dead, invocation& call);
void add_limits(CLI::App& app, invocation& call);
void add_alter(CLI::App& app, invocation& call);
void add_every(CLI::App& app, invocation& call);
void add_schedules(CLI::App& app, invocation& call);
void add_drop(CLI::App& app, invocation& call);
void add_doctor(CLI::App& app, invocation& call);
void add_migrate(CLI::App& app, invocation& call);
void add_move(CLI::App& app, invocation& call);
#ifdef TABLEQ_WITH_SERVE
void add_serve(CLI::App& app, invocation& call);
#endif
void add_bench(CLI::App& app, invocation& call);
void add_completion(CLI::App& app, invocation& call);

}  // namespace tool
