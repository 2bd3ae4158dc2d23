#include "command_runner.hpp"

#include <cerrno>
#include <utility>

#include <tableq/receipts.hpp>

#include "row_json.hpp"

namespace tool {

namespace {

constexpr std::chrono::milliseconds until_ended{3000};

/// The system lacks a resource that other processes will free.
bool short_of_resources(const std::error_code& code) {
  return code.value() == EAGAIN || code.value() == ENOMEM || code.value() == EMFILE ||
         code.value() == ENFILE || code.value() == ETXTBSY || code.value() == ENOSPC;
}

/// Shells, env and others say with these that they found no program, or may not run it.
bool found_no_program(const child_end& end) {
  return end.signal == 0 && (end.exit_code == 126 || end.exit_code == 127);
}

/// From then on the command's input has the only copy of the payload.
void drop_payload(const tableq::delivery& delivery) {
  // The worker calls this handler once for a delivery, and then reads the receipt and the attempt.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the worker's own object is not const
  auto& mine = const_cast<tableq::delivery&>(delivery);
  std::string().swap(mine.payload);  // an assignment would keep its memory
  mine.row = tableq::row();
}

/// The command's standard input: it may read it, seek in it, or ignore it.
descriptor input_of(const tableq::delivery& delivery) {
  descriptor out =
      delivery.row.empty() ? file_of(delivery.payload) : file_of(row_json(delivery.row) + "\n");
  drop_payload(delivery);
  return out;
}

/// Keeps a place for a thread.
class reserved {
 public:
  explicit reserved(children& all) : all_(all), place_(all.reserve()) {}
  ~reserved() { all_.release(place_); }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;
  [[nodiscard]] std::size_t place() const { return place_; }

 private:
  children& all_;
  std::size_t place_;
};

}  // namespace

command_runner::command_runner(command_settings settings, guard& watch,
                               std::function<void(const std::string&)> say)
    : settings_(std::move(settings)),
      brake_(std::move(say)),
      children_(watch),
      handlers_(children_.size()) {}

command_runner::~command_runner() {
  for (const auto& each : handlers_) {
    if (each) each->close_input();
  }
  for (std::size_t place = 0; place < handlers_.size(); ++place) {
    if (handlers_[place]) retire(place, until_ended);
  }
}

tableq::handled command_runner::run(const message_origin& from, const tableq::delivery& delivery,
                                    const std::stop_token& stop) {
  if (hopeless()) return tableq::handled::give_back();
  const bool row = !delivery.row.empty();  // It has no id by which it is known again.
  const std::string message = from.shown() + '/' + std::to_string(delivery.receipt.id.value);
  if (!row) {
    if (const auto aside = brake_.put_aside(message)) return tableq::handled::kept(*aside);
  }
  tableq::handled verdict = handle(from, delivery, stop);
  if (!row && verdict.what() == tableq::handled::how::failed) brake_.note_failed(message);
  return verdict;
}

tableq::handled command_runner::handle(const message_origin& from, const tableq::delivery& delivery,
                                       const std::stop_token& stop) {
  const reserved mine(children_);
  try {
    return settings_.by_lines ? ask(mine.place(), from, delivery, stop)
                              : run_once(mine.place(), from, delivery, stop);
  } catch (const std::system_error& failure) {
    return not_started(failure.code(), stop);
  }
}

tableq::handled command_runner::run_once(std::size_t place, const message_origin& from,
                                         const tableq::delivery& delivery,
                                         const std::stop_token& stop) {
  {
    const descriptor input = input_of(delivery);
    const descriptor err = errors_.open(place);
    children_.start(place, settings_.command, environment_for(from, delivery),
                    {input.value(), STDOUT_FILENO, err.value()});
  }
  const child_end end = [&] {
    const std::stop_callback ask(stop, [&] { children_.terminate(place); });
    return children_.await(place);
  }();
  const std::string written = errors_.end_of(place);
  if (!end.success()) return ended_with(end, written, stop);
  succeeded();
  return tableq::handled::completed();
}

line_handler& command_runner::handler_at(std::size_t place, const message_origin& from) {
  std::unique_ptr<line_handler>& there = handlers_[place];
  // An answer that nothing has asked for would be taken for the next message's.
  if (there && (!children_.lives(place) || there->disturbed())) {
    retire(place, std::chrono::milliseconds{0});
  }
  if (!there) {
    auto made = std::make_unique<line_handler>();
    const descriptor err = errors_.open(place);
    children_.start(place, settings_.command, environment(from.db), made->streams(err.value()));
    made->started();
    there = std::move(made);
  }
  return *there;
}

child_end command_runner::retire(std::size_t place, std::chrono::milliseconds patience) {
  handlers_[place]->close_input();
  const child_end end = children_.end(place, patience);
  handlers_[place].reset();
  return end;
}

tableq::handled command_runner::ask(std::size_t place, const message_origin& from,
                                    const tableq::delivery& delivery, const std::stop_token& stop) {
  using ending = line_handler::ending;
  line_handler& handler = handler_at(place, from);
  std::string line = delivery_json(delivery, from.shown());
  drop_payload(delivery);
  errors_.forget(place);
  const std::stop_callback end_it(stop, [&] { children_.terminate(place); });
  const line_handler::reply said =
      handler.ask(std::move(line), children_.end_handle(place), settings_.answer_within);
  if (said.how == ending::closed) {
    const child_end end = retire(place, until_ended);
    const std::string written = errors_.end_of(place);
    if (end.success()) return failed_by("the handler ended without an answer", written, stop);
    return ended_with(end, written, stop);
  }
  could_start();
  const std::string written = errors_.end_of(place);
  std::string wrong = said.how == ending::late ? "the handler has not answered in time"
                                               : "the handler's answer is over 64 KiB long";
  if (said.how == ending::answered) {
    answer given = parse_answer(said.line, to_string(delivery.receipt));
    if (given.verdict) {
      if (given.last || stop.stop_requested()) retire(place, until_ended);
      return answered(std::move(*given.verdict), stop);
    }
    wrong = std::move(given.wrong);
  }
  retire(place, std::chrono::milliseconds{0});
  return failed_by(std::move(wrong), written, stop);
}

tableq::handled command_runner::answered(tableq::handled verdict, const std::stop_token& stop) {
  using how = tableq::handled::how;
  if (verdict.what() == how::completed) {
    succeeded();
    return verdict;
  }
  if (verdict.what() == how::given_back) return verdict;
  // A handler that ends a message for good is in no trouble.
  if (verdict.what() != how::given_up) {
    brake_.failed("the handler's answer (with \"final\" it does not count)", stop);
  }
  if (verdict.what() == how::failed && !verdict.delay()) return failed(verdict.why());
  return verdict;
}

void command_runner::succeeded() {
  brake_.release();
  could_start();
}

void command_runner::could_start() {
  const std::lock_guard lock(mutex_);
  unable_ = 0;
}

tableq::handled command_runner::ended_with(const child_end& end, const std::string& written,
                                           const std::stop_token& stop) {
  if (stop.stop_requested()) return tableq::handled::give_back();
  if (found_no_program(end)) return unable(end, written, stop);
  could_start();
  return failed_by(describe(end), written, stop);
}

tableq::handled command_runner::failed_by(std::string why, const std::string& written,
                                          const std::stop_token& stop) {
  if (stop.stop_requested()) return tableq::handled::give_back();
  brake_.failed(why, stop);
  return failed(with_words(std::move(why), written));
}

tableq::handled command_runner::failed(std::string why) const {
  return settings_.retry_delay
             ? tableq::handled::retry_after(std::move(why), *settings_.retry_delay)
             : tableq::handled::failed(std::move(why));
}

tableq::handled command_runner::unable(const child_end& end, const std::string& written,
                                       const std::stop_token& stop) {
  // Where a program is missing, no message is to blame. But a message may name the program: if the
  // last command could start its own, this message fails. Each fourth in a row fails too, so that
  // one message does not hold up all others for ever.
  constexpr std::size_t every = 4;
  const bool blamed = [&] {
    const std::lock_guard lock(mutex_);
    return unable_++ % every == 0;
  }();
  brake_.not_started(settings_.command.front() + " cannot start its program: " + describe(end),
                     stop);
  return blamed ? failed(with_words(describe(end), written)) : tableq::handled::give_back();
}

tableq::handled command_runner::not_started(const std::error_code& reason,
                                            const std::stop_token& stop) {
  const std::string why = "cannot start " + settings_.command.front() + ": " + reason.message();
  // The fault of this message's headers, not of the command.
  if (reason.value() == E2BIG) return failed(why);
  if (short_of_resources(reason)) {
    brake_.not_started(why, stop);
  } else {
    brake_.open();
    const std::lock_guard lock(mutex_);
    hopeless_ = why;
  }
  return tableq::handled::give_back();
}

std::optional<std::string> command_runner::hopeless() const {
  const std::lock_guard lock(mutex_);
  return hopeless_;
}

}  // namespace tool
