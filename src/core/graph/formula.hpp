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

  bool operator==(const Formula&) const = default;
};

/// The formula as part of another one: in parentheses where it holds together less firmly than its place
/// asks.
Formula within(Binding place, const Formula& formula);

/// A name in LaTeX that has no letter.
std::string latex_of_name(std::string_view name);

/// How a name is written: `head.2.q` stays as it is in plain text; in LaTeX the scope is an index.
Formula symbol(std::string_view scope, std::string_view leaf, const std::string& latex);

/// A matrix as it is called, and as formulas write it.
struct Symbol {
  std::string name;
  Formula formula;
};

/// A number and how it is written: 8 = √64.
struct Scalar {
  double value;
  Formula notation;
  std::string in_words = {};  // where the notation does not say what number it is

  bool operator==(const Scalar&) const = default;
};

}  // namespace attn
