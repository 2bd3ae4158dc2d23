#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/tds_answer.hpp"
#include "support/tds_bytes.hpp"

/// @file
/// The tokens of answers.

namespace tableq_test {

/// Flags of a DONE token, which ends a statement's answer.
namespace tds_done {
constexpr std::uint16_t more = 0x01;
constexpr std::uint16_t error = 0x02;
constexpr std::uint16_t count = 0x10;
constexpr std::uint16_t attention = 0x20;
}  // namespace tds_done

/// How a statement ends: in a batch, in a procedure, with its procedure.
enum class tds_end : std::uint8_t { batch = 0xFD, procedure = 0xFE, in_procedure = 0xFF };

void write_end(tds_writer& to, tds_end which, std::uint16_t bits, std::int64_t rows = 0);
void write_columns(tds_writer& to, const std::vector<tds_column>& columns);
void write_row(tds_writer& to, const std::vector<tds_column>& columns,
               const std::vector<tds_value>& values);
void write_message(tds_writer& to, const tds_step::message& message);
/// The return value of a procedure, and its handle.
void write_status(tds_writer& to, std::int32_t status);
void write_handle(tds_writer& to, std::int32_t handle);

void write_prelogin(tds_writer& to);
/// The accepted login, the server, and the initial settings of the session.
void write_welcome(tds_writer& to, const tds_login& login, std::uint32_t packet_size);
/// @param number that of the transaction begun or ended.
void write_transaction(tds_writer& to, tds_change change, std::uint64_t number);

}  // namespace tableq_test
