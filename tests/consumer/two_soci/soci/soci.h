// Stands for another version of SOCI: its session is laid out differently, and a little longer.
#pragma once
#define SOCI_H_INCLUDED

#include <array>

namespace soci {

class session {
 public:
  session();
  ~session();

 private:
  std::array<unsigned char, 1500> content_;
};

}  // namespace soci
