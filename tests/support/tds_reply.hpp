#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/tds_answer.hpp"
#include "support/tds_tokens.hpp"
#include "support/tds_wire.hpp"

namespace tableq_test {

/// The transaction of one connection, in the server's reports.
class tds_transactions {
 public:
  [[nodiscard]] bool open() const { return current_ != 0; }
  void change(tds_writer& to, tds_change change);

 private:
  std::uint64_t current_ = 0;
  std::uint64_t last_ = 0;
};

/// Converts answers into one message to the client. Borrows the wire and the transaction.
class tds_reply {
 public:
  /// @param bodies the longest packet without its header
  tds_reply(tds_wire& wire, std::size_t bodies, tds_transactions& transactions);

  /// Sends the answer without its end. Does nothing after the end of the reply.
  void play(const tds_answer& answer, tds_end each);
  /// Ends a batch; the message with it.
  void end_batch();
  /// Ends a procedure, and the message when it is the last one.
  void end_procedure(std::optional<std::int32_t> handle, bool last);
  /// Ends a request other than a statement, and the message.
  void end_with(std::uint16_t bits);
  /// The bytes of the next packet.
  tds_writer& out() { return out_; }
  /// Reports that the answer was cancelled: nothing may follow.
  [[nodiscard]] bool over() const { return over_; }

 private:
  void say(const tds_step::columns& step);
  void say(const tds_step::row& step);
  void say(const tds_step::affected& step);
  void say(const tds_step::message& step);
  void say(const tds_step::transaction& step);
  void say(const tds_step::wait& step);
  void say(const tds_step::cut& step);

  /// Ends the open statement; another follows.
  void end_statement();
  [[nodiscard]] std::uint16_t bits() const;
  void flush(bool last);

  tds_wire& wire_;
  tds_transactions& transactions_;
  std::size_t bodies_;
  std::optional<std::size_t> left_;
  tds_end each_ = tds_end::batch;
  tds_writer out_;
  std::vector<tds_column> columns_;
  bool statement_ = false;
  bool counted_ = false;
  bool failed_ = false;
  bool over_ = false;
  std::int64_t rows_ = 0;
};

}  // namespace tableq_test
