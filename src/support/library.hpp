#pragma once

#include <string>

namespace attn {

/// A library that the program was built with, or what else can differ between two of its builds.
struct Library {
  std::string name;
  std::string version;
};

}  // namespace attn
