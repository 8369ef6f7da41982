#include "page/tell/describe.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/graph/name.hpp"
#include "core/op/operations.hpp"

namespace attn {

namespace {

std::string_view scope_of(std::string_view name) {
  return name.substr(0, name.rfind('.') + 1);  // npos + 1 is 0: none
}

// Matrices as they are found in a trace, by name.
class Matrices {
 public:
  explicit Matrices(const Trace& trace) : trace_(trace) {}

  Table table_of(const TracedMatrix& matrix, std::string_view scope) const {
    const TracedMatrix& source = original(matrix);
    const bool is_known = source.family->keeps_facts;
    return shown_as({.title = told(matrix.name, scope),
                     .array = matrix.name,
                     .rows = matrix.frame.rows,
                     .columns = matrix.frame.columns,
                     .cells = matrix.cells(),
                     .ranks = source.role == &role::logits},
                    is_known ? source.role->content : Content::numbers, is_known && source.role->rows_sum_to_one,
                    scores_behind(source));
  }

  FormulaBlock formula_of(const TracedMatrix& matrix, std::string_view scope) const {
    FormulaBlock block{matrix.formula, {}, matrix.frame.shape};
    replace(block.formula, matrix.name, scope);
    for (const std::string& operand : matrix.operands) {
      replace(block.formula, operand, scope);
      if (const TracedMatrix* found = trace_.find(operand)) block.operands.push_back(found->frame.shape);
    }
    if (block.operands.size() < matrix.operands.size()) block.operands.clear();  // not all are known
    return block;
  }

  // The name from a scope on, as Node::name_within.
  std::string told(const std::string& name, std::string_view scope) const {
    if (scope.empty() || !name.starts_with(scope)) return name;
    const std::string rest = name.substr(scope.size());
    const bool is_numbered = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
    return rest.empty() || is_numbered || trace_.find(rest) ? name : rest;
  }

 private:
  // The matrix itself, or what it is another name for.
  const TracedMatrix& original(const TracedMatrix& matrix) const {
    const bool is_alias = matrix.operation == op::identity.name && !matrix.operands.empty();
    const TracedMatrix* const other = is_alias ? trace_.find(matrix.operands.front()) : nullptr;
    return other ? *other : matrix;
  }

  const TracedMatrix* beside(const TracedMatrix& matrix, const Role& role) const {
    return trace_.find(std::string(scope_of(matrix.name)) + std::string(role.leaf));
  }

  // The scores that weights, or their transpose, come from, with their shape; null where they are not there.
  std::shared_ptr<const Matrix> scores_behind(const TracedMatrix& matrix) const {
    if (matrix.role->content != Content::weights) return nullptr;
    // Of a file that does not tell operations, names have to do.
    const bool is_transposed =
        matrix.operands.empty() ? matrix.role == &role::alignment : matrix.operation == op::transpose.name;
    const TracedMatrix* source = &matrix;
    if (is_transposed)
      source = matrix.operands.empty() ? beside(matrix, role::weights) : trace_.find(matrix.operands.front());
    if (!source) return nullptr;
    source = &original(*source);
    if (!source->role->rows_sum_to_one) return nullptr;
    const TracedMatrix* const scores =
        source->operands.empty() ? beside(*source, role::masked) : trace_.find(source->operands.front());
    if (!scores || scores->frame.shape != source->frame.shape) return nullptr;
    if (source == &matrix) return scores->cells();
    Matrix turned = transposed(*scores->cells());
    return turned.shape() == matrix.frame.shape ? std::make_shared<const Matrix>(std::move(turned)) : nullptr;
  }

  // Puts the short name in place of a whole one.
  void replace(Formula& formula, const std::string& name, std::string_view scope) const {
    const std::string short_name = told(name, scope);
    if (short_name == name) return;
    const Formula from = symbol(name_from_text(name)), to = symbol(name_from_text(short_name));
    replace(formula.plain, from.plain, to.plain);
    replace(formula.latex, from.latex, to.latex);
  }

  static bool goes_on(std::string_view text, std::size_t at) {
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
    return at < text.size() && is_of_name(static_cast<unsigned char>(text[at]));
  }

  static void replace(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      const bool is_whole = !goes_on(text, at + from.size()) && (at == 0 || !goes_on(text, at - 1));
      if (is_whole) text.replace(at, from.size(), to);
      at += is_whole ? to.size() : 1;
    }
  }

  const Trace& trace_;
};

// Whether a name stands in a part of a model, and not only in a head, a layer or a sentence of a problem.
bool is_of_model(const TracedMatrix& matrix) {
  constexpr std::array of_problems = {&scope::sentence, &scope::layer, &scope::head, &scope::query, &scope::other};
  const std::vector<ScopeName> scopes = name_from_text(matrix.name).scopes();
  return !scopes.empty() && std::ranges::find(of_problems, scopes.front().kind) == of_problems.end();
}

}  // namespace

void add_matrices(Page& page, const Trace& trace, const std::vector<TracedMatrix>& shown) {
  const Matrices matrices(trace);
  const bool by_scope = std::ranges::any_of(shown, is_of_model);
  std::string_view last;
  for (const TracedMatrix& matrix : shown) {
    // A name that begins with a dot, as "../a" does, has a scope without a name: it is told as a whole.
    const bool is_within = by_scope && !matrix.name.starts_with('.');
    const std::string_view scope = is_within ? scope_of(matrix.name) : std::string_view();
    if (scope != last && !scope.empty()) page.head(2, std::string(scope.substr(0, scope.size() - 1)));
    last = scope;
    page.say(matrices.formula_of(matrix, scope));
    page.say(matrices.table_of(matrix, scope));
  }
}

}  // namespace attn
