#pragma once

#include <string>
#include <vector>

namespace tableq_test::locks {

/// What the model finds in the texts as they are, and why that is right or bearable.
struct known_finding {
  std::string what;
  std::string why;
};

/// Of the operations of claim queues.
const std::vector<known_finding>& known_of_claim();

}  // namespace tableq_test::locks
