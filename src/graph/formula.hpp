#pragma once

#include <string>
#include <string_view>

namespace attn {

/// How firmly a formula holds together, loosest first: words ("x at the distance j − i"), a + b, a ⋅ b, and
/// what nothing can be torn from ("softmax(x)", "xᵀ").
enum class Binding { words, sum, product, whole };

/// A piece of mathematics as it is written: in a terminal, and in LaTeX without the dollar signs.
struct Formula {
  std::string plain;
  std::string latex;
  Binding binding = Binding::whole;
};

/// The formula as part of another one: in parentheses where it holds together less firmly than its place
/// asks.
Formula within(Binding place, const Formula& formula);

/// A name in LaTeX that has no letter.
std::string written_out(std::string_view name);

/// How a name is written: `head.2.q` stays as it is in plain text; in LaTeX the scope is an index.
Formula symbol(std::string_view scope, std::string_view leaf, const std::string& latex);

}  // namespace attn
