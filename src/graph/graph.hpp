#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/name.hpp"
#include "graph/operation.hpp"

namespace attn {

class Graph;
struct ScoringFunction;

/// One matrix of a computation: an input, or the result of an operation on other nodes. It stays in its graph
/// for good; its cells stay only if somebody keeps them.
struct Node {
  Graph* graph = nullptr;
  std::string name;                   // `head.2.weights`, or empty
  const NamedScope* place = nullptr;  // where its name stands; null: in no scope
  const Role* role = nullptr;         // null: it has no name
  const Family* family = &family::forward;
  std::string_view letter = {};                // in LaTeX; empty: the name is written out
  std::unique_ptr<const Operation> operation;  // null: an input
  std::vector<const Node*> operands;
  Frame frame;
  std::shared_ptr<const Matrix> kept;          // null: nobody listens
  const ScoringFunction* scored_by = nullptr;  // of scores
  std::string origin = {};                     // of an input that was not given: "is random (seed 1)"

  /// The innermost scope of this kind around it, or null.
  const NamedScope* within(const ScopeKind& kind) const { return attn::within(place, kind); }
  /// The node of a role in the same scope and family, or null.
  const Node* beside(const Role& role) const;
  /// Whether it has this role in the first computation.
  bool is(const Role& role) const;
  /// What its cells are; they are numbers where its family does not keep what roles say.
  Content content() const;
  bool rows_sum_to_one() const;
  bool may_be_masked() const;

  /// The cells. Throws std::logic_error when they were not kept.
  const Matrix& matrix() const;
  /// The name, or for a node without one its formula in parentheses.
  std::string title() const;
  /// `head.2.` of `head.2.weights`; "" at the top.
  std::string_view scope() const;
  /// The same without its last dot, `head.2`.
  std::string_view scope_name() const;
  /// The name from a scope on, for whoever has named that already; in full outside of it, and where the rest
  /// is another node's name or begins with a number.
  std::string name_within(std::string_view scope) const;
  /// `weights` of `head.2.weights`.
  std::string_view leaf() const;
  /// Whether it is another name for its only operand.
  bool is_alias() const;
  /// The node itself, or what its alias stands for.
  const Node& original() const;
  /// The named nodes that its formula mentions, in that order: for an operand without a name those behind it.
  std::vector<const Node*> named_operands() const;
};

/// A node with a name, as formulas write it from `scope` on.
Formula symbol(const Node& node, std::string_view scope = {});

/// The formula of a node, "scores = q ⋅ kᵀ", with names from `scope` on. An input is its name.
Formula formula_of(const Node& node, std::string_view scope = {});

/// How a cell came about, with names from `scope` on in the reason. A cell of an input is the number that was
/// given. The node's operands are kept.
Explanation explain(const Cell& cell, std::string_view scope = {});

/// A handle to a node and, while the handle lives, to its cells. Pass it on with std::move when it is not
/// needed again: the next operation then works in the same memory.
class Value {
 public:
  Value(Node* node, std::shared_ptr<Matrix> cells) : node_(node), cells_(std::move(cells)) {}

  const Node& node() const { return *node_; }
  Graph& graph() const { return *node_->graph; }
  Shape shape() const { return node_->frame.shape; }
  const Matrix& matrix() const { return *cells_; }
  /// The cells, to change: the memory itself when nobody else holds it, otherwise a copy.
  Matrix take() &&;

 private:
  friend class Graph;
  struct ScoringFunction;
  Node* node_;
  std::shared_ptr<Matrix> cells_;
};

/// Chooses nodes by name: `head.2.weights`, `weights` (in any scope), `head.*.output`, `encoder.2.*`.
/// `*` stands for any characters; without an exact match a pattern may leave out leading scopes. Several
/// patterns are separated by `|`.
bool matches(std::string_view pattern, std::string_view name);

/// Who listens: decides whether the cells of a node are kept. Asked when a node is made and when it is named.
using Keep = std::function<bool(const Node&)>;
Keep keep_everything();
Keep keep_nothing();
/// Keeps the nodes whose names match.
Keep keep_matching(std::string pattern);

/// Whether operations are evaluated, or only leave their nodes behind: names, shapes, formulas and costs
/// without a number, for models that are too large to look at otherwise.
enum class Evaluation { at_once, never };

/// A computation as it happens: every operation is evaluated at once and leaves a node, in order.
class Graph {
 public:
  explicit Graph(Keep keep = keep_everything(), Evaluation evaluation = Evaluation::at_once)
      : keep_(std::move(keep)), evaluation_(evaluation) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A matrix that comes from outside. It is always kept.
  Value input(const Name& name, Matrix matrix, Axis rows, Axis columns);
  /// The same without a copy: the matrix is shared with whoever gave it.
  Value input(const Name& name, std::shared_ptr<const Matrix> matrix, Axis rows, Axis columns);
  /// Says where an input comes from that was not given.
  void tell_origin(const Node& input, std::string origin);
  /// Says which function made some scores.
  void tell_scoring(const Node& scores, const ScoringFunction& function);
  /// A matrix of which only the frame is known, in a graph that never evaluates.
  Value placeholder(const Name& name, Frame frame);
  /// Evaluates an operation. Throws InputError when the operands do not fit together, or when the result
  /// would be larger than a matrix may be.
  Value apply(std::unique_ptr<const Operation> operation, std::vector<Value> operands);
  /// Gives a value its name within the open scopes. A value that has a name gets an alias, which shares its
  /// cells.
  Value name(const Name& name, Value value);

  /// A handle to a node that was made before. Its cells are kept.
  Value value(const Node& node);

  bool evaluates() const { return evaluation_ == Evaluation::at_once; }
  const std::deque<Node>& nodes() const { return nodes_; }
  /// The node called `name` in full. Throws InputError with the nearest name when there is none.
  const Node& at(std::string_view name) const;
  const Node& at(const Name& name) const { return at(name.text()); }
  const Node* find(std::string_view name) const;
  const Node* find(const Name& name) const { return find(name.text()); }
  /// The node of that name within a scope, or null.
  const Node* find(const NamedScope* place, const Name& name) const;
  /// The named nodes that match, in order; only the exact one where there is one. Of several patterns those
  /// of the first come first. Throws InputError where one matches nothing.
  std::vector<const Node*> matching(std::string_view pattern) const;
  /// All named nodes, in order.
  std::vector<const Node*> named() const;
  std::vector<std::string> names() const;

  /// Names given while a scope is open begin with its name and a dot.
  class Scope {
   public:
    Scope(Graph& graph, const ScopeName& name);
    Scope(Graph& graph, const ScopeKind& kind, std::size_t number) : Scope(graph, ScopeName(kind, number)) {}
    /// Opens again the scope of a node, in place of those that are open.
    Scope(Graph& graph, const NamedScope* again);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// The innermost scope.
    const NamedScope* opened() const { return graph_.scope_; }

   private:
    Graph& graph_;
    const NamedScope* outer_;
  };

 private:
  std::vector<const Node*> matching_one(std::string_view pattern) const;
  Node& add(std::unique_ptr<const Operation> operation, std::vector<const Node*> operands, Frame frame);
  const NamedScope* scope_within(const NamedScope* outer, const ScopeName& name);
  void give_name(Node& node, const Name& name);

  Keep keep_;
  Evaluation evaluation_;
  std::map<std::string, NamedScope, std::less<>> scopes_;  // by prefix
  const NamedScope* scope_ = nullptr;                      // the innermost that is open
  std::deque<Node> nodes_;
  std::map<std::string, const Node*, std::less<>> by_name_;
};

/// Gives a value its name in its own graph.
Value name(const Name& name, Value value);

/// Applies an operation to values, in their graph.
template <class Op, class... Values>
Value apply(Op operation, Values&&... values) {
  std::vector<Value> operands;
  operands.reserve(sizeof...(values));
  (operands.push_back(std::forward<Values>(values)), ...);
  Graph& graph = operands.front().graph();
  return graph.apply(std::make_unique<const Op>(std::move(operation)), std::move(operands));
}

}  // namespace attn
