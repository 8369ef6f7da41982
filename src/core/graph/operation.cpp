#include "core/graph/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/graph.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// Whether a label alone does not say which place it is: there are several of it, or it is a number like that of a
// place.
bool is_unclear(const Axis& axis, std::size_t i) {
  return axis.labels && (is_repeated(axis, i) || parse_number<double>((*axis.labels)[i]));
}

// A template with the formulas of operands in their places: "$1* ⋅ $2!".
std::string filled_in(std::string_view text, std::span<const Formula> operands, std::string Formula::*written) {
  constexpr std::string_view marks = "+*!";
  constexpr Binding places[] = {Binding::sum, Binding::product, Binding::whole};
  std::string filled;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      filled += text[at];
      continue;
    }
    const Formula& operand = operands[static_cast<std::size_t>(text[++at] - '1')];
    const std::size_t mark = at + 1 < text.size() ? marks.find(text[at + 1]) : std::string_view::npos;
    filled += mark == std::string_view::npos ? operand.*written : within(places[mark], operand).*written;
    if (mark != std::string_view::npos) ++at;
  }
  return filled;
}

// The rows of one sentence, of those that are there, counted from its beginning.
Rows rows_of_sentence(Rows all, std::size_t sentence, std::size_t rows) {
  const std::size_t begin = std::max(sentence * rows, all.first), end = std::min((sentence + 1) * rows, all.end());
  if (begin >= end) return {nullptr, 0, {0, all.shape.columns}};
  return {all.row(begin).data(), begin - sentence * rows, {end - begin, all.shape.columns}};
}

void define_by_sentence(const Op& op, const Use& use, std::size_t sentences, Operands operands, RowsToMake result) {
  const std::size_t rows = frame_of(op, use).shape.rows / sentences;
  std::vector<Rows> those(operands.size());
  for (std::size_t i = result.first; i < result.end();) {
    const std::size_t sentence = i / rows, end = std::min((sentence + 1) * rows, result.end());
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Frame& frame = use.frame(k);
      const bool has_its_own = frame.rows.batch == sentences;
      those[k] = has_its_own ? rows_of_sentence(operands[k], sentence, frame.shape.rows / sentences) : operands[k];
    }
    op.definition.compute(use, those, {result.row(i).data(), i - sentence * rows, {end - i, result.shape.columns}});
    i = end;
  }
}

}  // namespace

std::string Axis::label(std::size_t i) const { return labels ? (*labels)[i] : std::to_string(i + 1); }

bool is_repeated(const Axis& axis, std::size_t i) {
  return axis.labels && std::ranges::count(*axis.labels, (*axis.labels)[i]) > 1;
}

std::string place_in_words(const Axis& axis, std::size_t i, std::string_view what, std::string_view open,
                           std::string_view close) {
  const std::string number = fmt::format("{} {}", what, i + 1);
  if (!axis.labels) return number;
  const std::string word = fmt::format("{}{}{}", open, axis.label(i), close);
  return is_unclear(axis, i) ? fmt::format("{} ({})", word, in_lower_case(number)) : word;
}

std::string place_in_lists(const Axis& axis, std::size_t i) {
  return is_unclear(axis, i) ? fmt::format("{} ({})", axis.label(i), i + 1) : axis.label(i);
}

Axis axis(std::string name) { return {std::move(name), nullptr}; }

Axis axis(std::string name, std::vector<std::string> labels) {
  if (labels.empty()) return axis(std::move(name));
  return {std::move(name), std::make_shared<const std::vector<std::string>>(std::move(labels))};
}

Axis part(const Axis& whole, std::size_t first, std::size_t count) {
  if (!whole.labels) return whole;
  const auto begin = whole.labels->begin() + static_cast<std::ptrdiff_t>(first);
  return axis(whole.name, std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count)));
}

Cost& Cost::operator+=(const Cost& other) {
  multiply_adds += other.multiply_adds;
  element_operations += other.element_operations;
  return *this;
}

OpSetting::OpSetting(const OpSetting&) = default;
OpSetting::OpSetting(OpSetting&&) noexcept = default;
OpSetting& OpSetting::operator=(const OpSetting&) = default;
OpSetting& OpSetting::operator=(OpSetting&&) noexcept = default;
OpSetting::~OpSetting() = default;

std::string notation_of_setting(std::string_view name) { return std::string(name) + "_notation"; }

OpSettings::OpSettings() = default;
OpSettings::OpSettings(std::initializer_list<OpSetting> all) : all_(all) {}
OpSettings::OpSettings(const OpSettings&) = default;
OpSettings::OpSettings(OpSettings&&) noexcept = default;
OpSettings& OpSettings::operator=(const OpSettings&) = default;
OpSettings& OpSettings::operator=(OpSettings&&) noexcept = default;
OpSettings::~OpSettings() = default;

const OpSetting* OpSettings::named(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &OpSetting::name);
  return found == all_.end() ? nullptr : &*found;
}

const Frame& Use::frame(std::size_t operand) const { return operands[operand]->frame; }

Formula formula_of(const Op& op, const Use& use, std::span<const Formula> operands) {
  if (op.formula) return op.formula(use, operands);
  return {filled_in(op.plain, operands, &Formula::plain), filled_in(op.latex, operands, &Formula::latex), op.binding};
}

Bounds bounds_of_op(const Op& op) { return op.function ? op.function->bounds : op.bounds; }

Frame frame_of(const Op& op, const Use& use) { return op.frame ? op.frame(use) : use.frame(0); }

Cost cost_of(const Op& op, const Use& use, std::span<const Shape> operands) {
  return op.cost ? op.cost(use, operands) : Cost{.element_operations = op.passes * operands[0].cells()};
}

RowRange needed(const Op& op, const Use& use, std::size_t operand, RowRange made) {
  if (op.needed) return op.needed(use, operand, made);
  const std::size_t all = use.frame(operand).shape.rows;
  switch (op.needs) {
    case Needs::same_rows:
      return all == 1 ? RowRange{0, 1} : made;
    case Needs::all_of_second:
      return operand == 0 ? made : RowRange{0, all};
    case Needs::all:
      return {0, all};
    case Needs::nothing:
      break;
  }
  return {0, 0};
}

std::size_t sentences_of(const Op& op, const Use& use) {
  if (op.sentences) return op.sentences(use);
  const std::size_t batch = use.operands.empty() ? 1 : use.frame(0).rows.batch;
  const auto has_as_many = [batch](const Node* node) { return node->frame.rows.batch == batch; };
  return std::ranges::all_of(use.operands, has_as_many) ? batch : 1;
}

void compute(const Op& op, const Use& use, Operands operands, RowsToMake result) {
  if (op.compute) return op.compute(use, operands, result);
  const std::size_t sentences = op.by_sentence ? sentences_of(op, use) : 1;
  if (sentences == 1) return op.definition.compute(use, operands, result);
  define_by_sentence(op, use, sentences, operands, result);
}

}  // namespace attn
