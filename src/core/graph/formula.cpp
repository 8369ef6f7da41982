#include "core/graph/formula.hpp"

#include <fmt/format.h>

namespace attn {

namespace {

std::string escaped(std::string_view words) {
  std::string escaped;
  for (const char c : words) {
    if (std::string_view("_%#&${}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

Formula within(Binding place, const Formula& formula) {
  if (formula.binding >= place) return formula;
  return {"(" + formula.plain + ")", "\\left(" + formula.latex + "\\right)"};
}

std::string latex_of_name(std::string_view name) { return "\\mathrm{" + escaped(name) + "}"; }

Formula symbol(std::string_view scope, std::string_view leaf, const std::string& latex) {
  if (scope.empty()) return {std::string(leaf), latex};
  return {fmt::format("{}.{}", scope, leaf), fmt::format("{{{}}}_{{{}}}", latex, latex_of_name(scope))};
}

}  // namespace attn
