#pragma once

/// @file
/// The parts of Boost.Asio in use. Its fences are disabled: GCC's thread sanitizer does not support
/// them, and here each context has one thread.

#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // NOLINT(readability-identifier-naming)

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
