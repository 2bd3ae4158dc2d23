#include "waiting_reader.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "child_process.hpp"
#include "subject.hpp"

namespace bench {

waiting_reader::waiting_reader(tableq::fifo_queue mail)
    : mail_(std::move(mail)), reader_([this, from = mail_]() mutable {
        for (;;) {
          const auto got = from.dequeue({.wait = std::chrono::seconds{30}});
          const std::int64_t now = now_ns();
          if (!got || got->payload == last_message) return;
          received_.push_back(now);
        }
      }) {}

void waiting_reader::send() {
  sent_.push_back(now_ns());
  mail_.enqueue(payload());
}

std::vector<double> waiting_reader::finish() {
  mail_.enqueue(last_message);
  reader_.join();
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(sent_.size(), received_.size()); ++i) {
    out.push_back(static_cast<double>(received_[i] - sent_[i]) / 1000);
  }
  return out;
}

}  // namespace bench
