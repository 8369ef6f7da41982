#include "model/learned.hpp"

#include "support/error.hpp"

namespace attn {
namespace {

// Rows and columns that are words have their labels.
Axis axis_of(const SizeName& size, const Vocabularies& words) {
  if (&size == &size_name::source_words) return words.source;
  return &size == &size_name::target_words ? words.target : axis("features");
}

Value input_of(Graph& graph, const ParameterRow& row, const ModelParameters& numbers,
               const Vocabularies& words) {
  Frame frame{row.shape, axis_of(row.parameter->rows, words), axis_of(row.parameter->columns, words)};
  const auto found = numbers.find(row.name);
  if (found == numbers.end()) return graph.input(row.called, std::move(frame));
  return graph.input(row.called, found->second, frame.rows, frame.columns);
}

}  // namespace

Learned::Learned(Graph& graph, const std::vector<ParameterRow>& rows, const ModelParameters& numbers,
                 const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const ParameterRow& row : rows) values->emplace(row.name, input_of(graph, row, numbers, words));
  values_ = std::move(values);
}

Learned Learned::within(const std::vector<ScopeName>& scopes) const {
  std::string prefix = prefix_;
  for (const ScopeName& scope : scopes) prefix += scope.text + '.';
  return {values_, std::move(prefix)};
}

bool Learned::has(const Name& name) const {
  return values_->contains(prefix_ + name.text());
}

std::optional<Value> Learned::find(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  return found == values_->end() ? std::nullopt : std::optional(found->second);
}

const Value& Learned::at(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  if (found == values_->end())
    fail("the model has no parameter {}{}: give a file that has it", prefix_, name.text());
  return found->second;
}

Projection Learned::projection(const LinearRoles& of) const {
  return {at(of.w), find(of.b)};
}

}  // namespace attn
