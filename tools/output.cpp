#include "output.hpp"

#include <cstddef>
#include <string>

#include "streams.hpp"

namespace tool {

namespace {

constexpr std::size_t buffered = 64UL * 1024;

void write_all(std::string_view bytes) {
  const std::string reason = write_output(bytes);
  if (!reason.empty()) throw output_error("cannot write to standard output: " + reason);
}

}  // namespace

void output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffered) flush();
  if (bytes.size() > buffered) {
    write_all(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void output::line(std::string_view bytes) {
  write(bytes);
  write("\n");
}

void output::flush() {
  const std::string pending = std::move(buffer_);
  buffer_.clear();
  write_all(pending);
}

void print_line(std::string_view text) {
  output out;
  out.line(text);
  out.flush();
}

void complain(std::string_view sentence) {
  write_error("tableq: " + printable(sentence) + "\n");
}

std::string sentence_of(const tableq::error& failure) {
  std::string out = failure.what();
  if (failure.code() != tableq::errc::internal) return out;
  std::string numbers;
  if (!failure.sqlstate().empty()) numbers = "SQLSTATE " + failure.sqlstate();
  if (failure.native() != 0) {
    numbers += (numbers.empty() ? "" : ", ") + ("number " + std::to_string(failure.native()));
  }
  return numbers.empty() ? out : out + " (" + numbers + ")";
}

bool of_one_queue(const tableq::error& failure) {
  return failure.advice() == tableq::advice::never &&
         failure.code() != tableq::errc::connection_failed;
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    if (byte < 0x20 || byte == 0x7f) result[i] = ' ';
    // U+0080 to U+009F, which some terminals obey.
    if (byte == 0xc2 && i + 1 < result.size() && static_cast<unsigned char>(result[i + 1]) < 0xa0) {
      result[i] = result[i + 1] = ' ';
    }
  }
  return result;
}

}  // namespace tool
