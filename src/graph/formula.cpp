#include "graph/formula.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace attn {
namespace {

struct LatexSymbol {
  std::string_view name;
  std::string_view latex;
};

// The letters of "Attention Is All You Need"; every other name is written out.
constexpr std::array symbols = {
    LatexSymbol{"x", "X"},
    LatexSymbol{"q", "Q"},
    LatexSymbol{"k", "K"},
    LatexSymbol{"v", "V"},
    LatexSymbol{"w_q", "W^{Q}"},
    LatexSymbol{"w_k", "W^{K}"},
    LatexSymbol{"w_v", "W^{V}"},
    LatexSymbol{"w_o", "W^{O}"},
    LatexSymbol{"b_q", "b^{Q}"},
    LatexSymbol{"b_k", "b^{K}"},
    LatexSymbol{"b_v", "b^{V}"},
    LatexSymbol{"b_o", "b^{O}"},
    LatexSymbol{"score_m", "M"},
    LatexSymbol{"score_wq", "W_{q}"},
    LatexSymbol{"score_wk", "W_{k}"},
    LatexSymbol{"score_wv", "w_{v}"},
};

std::string latex_word(std::string_view word) {
  for (const LatexSymbol& symbol : symbols) {
    if (symbol.name == word) return std::string(symbol.latex);
  }
  std::string escaped;
  for (const char c : word) escaped += c == '_' ? std::string("\\_") : std::string(1, c);
  return fmt::format("\\mathrm{{{}}}", escaped);
}

}  // namespace

Formula within(Binding place, const Formula& formula) {
  if (formula.binding >= place) return formula;
  return {"(" + formula.plain + ")", "\\left(" + formula.latex + "\\right)"};
}

Formula symbol(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, latex_word(name)};
  const std::string scope = name.substr(0, dot);
  std::string subscript;
  for (const char c : scope) subscript += c == '_' ? std::string("\\_") : std::string(1, c);
  return {name, fmt::format("{{{}}}_{{\\mathrm{{{}}}}}", latex_word(name.substr(dot + 1)), subscript)};
}

}  // namespace attn
