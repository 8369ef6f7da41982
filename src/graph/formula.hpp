#pragma once

#include <string>

namespace attn {

/// A piece of mathematics as it is written: in a terminal, and in LaTeX without the dollar signs.
struct Formula {
  std::string plain;
  std::string latex;
};

/// How a node's name is written: `head.2.weights` stays as it is in plain text, and is a symbol in LaTeX.
Formula symbol(const std::string& name);

}  // namespace attn
