#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/name.hpp"
#include "core/graph/operation.hpp"

namespace attn {

class Graph;
class Run;
struct ScoringFunction;

/// Makes some rows of an input when they are needed: of a mask, of which n × n cells need not stand anywhere.
using MakeRows = std::function<void(RowsToMake rows)>;

/// One matrix of a computation: an input, or the result of an operation on other nodes. It stays in its graph
/// for good. Its numbers are a run's: see core/graph/run.hpp.
struct Node {
  Graph* graph = nullptr;
  std::size_t index = 0;              // among the nodes of its graph
  std::string name;                   // `head.2.weights`, or empty
  const NamedScope* place = nullptr;  // where its name stands; null: in no scope
  const Role* role = nullptr;         // null: it has no name
  const Family* family = &family::forward;
  std::string_view letter = {};  // in LaTeX; empty: the name is written out
  const Op* op = nullptr;        // null: an input
  OpSettings settings;
  std::vector<const Node*> operands;
  Frame frame;
  const ScoringFunction* scored_by = nullptr;  // of scores
  std::shared_ptr<const Matrix> given = {};    // the numbers of an input that has them
  MakeRows made = {};                          // or how they are made
  std::string origin = {};                     // of an input that was not given: "is random (seed 1)"
  bool is_random = false;                      // an input with random numbers
  const Node* alias_of = nullptr;              // the node whose numbers it has under another name
  std::vector<const Node*> aliases = {};       // those that have its numbers
  mutable std::size_t handles = 0;             // how many values hold it

  /// The innermost scope of this kind around it, or null.
  const NamedScope* within(const ScopeKind& kind) const { return attn::within(place, kind); }
  /// The node of a role in the same scope and family, or null.
  const Node* beside(const Role& role) const;
  /// Whether it has this role in the first computation.
  bool is(const Role& role) const;
  /// Its operation where it is used here.
  Use use() const { return {operands, settings}; }
  /// A setting of its operation, or null.
  template <class T>
  const T* find(const SettingOf<T>& setting) const {
    return settings.find(setting);
  }
  /// What its cells are; they are numbers where its family does not keep what roles say.
  Content content() const;
  bool rows_sum_to_one() const;
  bool may_be_masked() const;

  /// The numbers in the graph's own run, which computes what is not there yet.
  const Matrix& matrix() const;
  std::shared_ptr<const Matrix> cells() const;
  double cell(std::size_t row, std::size_t column) const;
  std::vector<double> row(std::size_t i) const;
  /// The name, or for a node without one its formula in parentheses.
  std::string title() const;
  /// `head.2.` of `head.2.weights`; "" at the top.
  std::string_view scope() const;
  /// The same without its last dot, `head.2`.
  std::string_view scope_name() const;
  /// The name from a scope on, for text that has named that scope already; in full outside of it, and where
  /// the rest is another node's name or begins with a number.
  std::string name_within(std::string_view scope) const;
  /// `weights` of `head.2.weights`.
  std::string_view leaf() const;
  /// The same without the prefix of its family, `weights` of `d_weights`.
  std::string_view plain_leaf() const { return leaf().substr(family->prefix.size()); }
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

/// One number of one node. Rows and columns count from zero in code and from one in whatever is shown.
struct Cell {
  const Node* node = nullptr;
  std::size_t row = 0;
  std::size_t column = 0;

  double value() const { return node->cell(row, column); }
  auto operator<=>(const Cell&) const = default;
};

/// A sentence on a node, with its name and those of its operands from `scope` on.
std::string with_short_names(std::string sentence, const Node& node, std::string_view scope);

/// A handle to a node, from which a computation is built: nothing is computed for it. A node to which a
/// handle refers keeps its numbers in every run.
class Value {
 public:
  explicit Value(const Node& node) : node_(&node) { ++node_->handles; }
  Value(const Value& other) : Value(*other.node_) {}
  Value& operator=(const Value& other) {
    ++other.node_->handles;
    --node_->handles;
    node_ = other.node_;
    return *this;
  }
  ~Value() { --node_->handles; }

  const Node& node() const { return *node_; }
  Graph& graph() const { return *node_->graph; }
  Shape shape() const { return node_->frame.shape; }
  const Matrix& matrix() const { return node_->matrix(); }

 private:
  const Node* node_;
};

/// Chooses nodes by name: `head.2.weights`, `weights` (in any scope), `head.*.output`, `encoder.2.*`.
/// `*` stands for any characters; without an exact match a pattern may leave out leading scopes. Several
/// patterns are separated by `|`.
bool matches(std::string_view pattern, std::string_view name);

/// The places of the names that match, in order; only the exact one where there is one. Of several patterns
/// those of the first come first. Throws InputError where one matches nothing.
std::vector<std::size_t> matching_places(std::string_view pattern, const std::vector<std::string>& names);

/// Decides which nodes keep their numbers, beside those that a `Value` refers to. Asked when a run begins.
using Keep = std::function<bool(const Node&)>;
Keep keep_everything();
Keep keep_nothing();
/// Keeps the nodes whose names match.
Keep keep_matching(std::string pattern);

/// No graph may have more nodes, each of which takes a kilobyte beside its numbers.
constexpr std::size_t most_nodes = std::size_t{1} << 20;

/// A computation before it is computed: operations on named matrices, whose shapes are checked when they are
/// added. It goes on growing while its numbers are asked for.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  /// `keep` says what its own run keeps.
  explicit Graph(Keep keep = keep_everything());
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A matrix that comes from outside.
  Value input(const Name& name, Matrix matrix, Axis rows, Axis columns);
  /// The same without a copy: the matrix is shared with the caller.
  Value input(const Name& name, std::shared_ptr<const Matrix> matrix, Axis rows, Axis columns);
  /// One whose rows are made when they are needed.
  Value input(const Name& name, MakeRows make, Frame frame);
  /// One of which only the frame is known, in a graph that is never run.
  Value input(const Name& name, Frame frame);
  /// Says where an input comes from that was not given, and whether its numbers are random.
  void tell_origin(const Node& input, std::string origin, bool is_random = false);
  /// Says that an input has random numbers, and from where: "seed 1".
  void tell_random(const Node& input, std::string_view from);
  /// Says which function made some scores.
  void tell_scoring(const Node& scores, const ScoringFunction& function);
  /// Adds an operation. Throws InputError when the operands do not fit together, or there would be too many
  /// nodes.
  Value apply(const Op& op, const std::vector<Value>& operands, OpSettings settings = {});
  /// Gives a value its name within the open scopes. A value that has a name gets an alias, which shares its
  /// numbers.
  Value name(const Name& name, const Value& value);

  /// Its numbers.
  Run& run() const { return *run_; }

  /// The scope with the name of one of another graph, around which stand scopes with the names of those
  /// there. Null: no scope.
  const NamedScope* scope_like(const NamedScope* of_another);

  const std::deque<Node>& nodes() const { return nodes_; }
  /// The node called `name` in full. Throws InputError with the nearest name when there is none.
  const Node& at(std::string_view name) const;
  const Node& at(const Name& name) const { return at(name.text()); }
  const Node* find(std::string_view name) const;
  const Node* find(const Name& name) const { return find(name.text()); }
  /// The node of that name within a scope, or null.
  const Node* find(const NamedScope* place, const Name& name) const;
  /// The named nodes that match, as matching_places() says.
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
  Node& add(const Op& op, OpSettings settings, std::vector<const Node*> operands, Frame frame);
  Node& add(Frame frame);
  const NamedScope* scope_within(const NamedScope* outer, const ScopeName& name);
  void give_name(Node& node, const Name& name);

  std::map<std::string, NamedScope, std::less<>> scopes_;  // by prefix
  const NamedScope* scope_ = nullptr;                      // the innermost that is open
  std::deque<Node> nodes_;
  std::map<std::string, const Node*, std::less<>> by_name_;
  std::unique_ptr<Run> run_;
};

/// Gives a value its name in its own graph.
Value name(const Name& name, const Value& value);

/// Applies an operation to values, in their graph.
Value apply(const Op& op, const std::vector<Value>& operands, OpSettings settings = {});

}  // namespace attn
