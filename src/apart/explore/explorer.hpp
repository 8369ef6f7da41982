#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apart/explore/editable_computation.hpp"
#include "apart/explore/grid.hpp"
#include "apart/explore/matrix_box.hpp"
#include "core/graph/graph.hpp"
#include "core/support/keystroke.hpp"
#include "core/term/law.hpp"
#include "page/render/style.hpp"

namespace attn {

/// The place in another matrix that is nearest to this one.
inline std::size_t within_size(std::size_t place, std::size_t size) { return std::min(place, size - 1); }

/// Small maps that stand beside and below each other.
struct Tiles {
  std::size_t beside, label, rows, columns;  // of them in a row, of the screen, of cells, of cells
  static constexpr std::size_t cell = 2, gap = 2;
};

/// What is explored: a computation, and the command line that makes it.
struct ExploredComputation {
  std::shared_ptr<const Graph> graph;
  std::string command;  // "walk --example animal"
  std::string random;   // what is random in it, in a sentence; empty: nothing
  std::shared_ptr<const Graph> second =
      {};  // another computation, from which it differs; null: it is compared with itself
  /// The command line that shows the same without a screen: a cell, and what was set.
  std::function<std::string(const Cell& cell, const std::vector<CellSetting>& settings)> without_screen;
};

/// A walk about a computation on a full screen, cell by cell. It knows keys and grids, and nothing of terminals.
class Explorer {
 public:
  /// Throws InputError: the computation has no matrix with a name.
  Explorer(ExploredComputation what, const Style& style);

  Grid draw(TerminalSize size);
  void press(const Keystroke& key);
  bool is_left() const { return is_left_; }
  /// Whether a line is being typed.
  bool is_asking() const { return question_.has_value(); }
  /// The command line that shows the chosen cell, where it was asked for; empty otherwise.
  const std::string& asked_command() const { return command_; }

  /// What can be shown, and the key that shows it.
  struct View {
    std::string_view name, summary, key;
  };
  static std::span<const View> views();
  /// Shows one of them.
  void open(const View& view);
  /// The characters behind which a line is typed.
  static std::string_view asking();

 private:
  enum class Showing { matrices, map, differences, heads, help };
  struct Place {
    const Node* node;
    std::size_t row, column;
    bool operator==(const Place&) const = default;
  };
  /// A line that is typed below, and what is done with it.
  struct Question {
    std::string asks;
    std::string typed = {};
    void (Explorer::*answer)(const std::string& typed);
  };

  // What keys do.
  void press_in_question(const Keystroke& key);
  void press_character(std::string_view character);
  void show(Showing what);
  void move(int rows, int columns);
  void move_to(const Place& place);
  void move_to(const Cell& cell);
  void go_back();
  void go_deeper();
  void next_shown(int by);
  void next_step(int by);
  void next_like(const ScopeKind& kind, int by);
  void next_moved();
  void ask(std::string asks, void (Explorer::*answer)(const std::string&));
  void find_row(const std::string& word);
  void find_column(const std::string& word);
  void go_to(const std::string& address);
  void set_cell(const std::string& number);
  void slide(int by);
  void set(double value, bool is_slid);
  void undo();
  void undo_all();
  void stop_where(const std::string& law);
  void look_at_laws();
  void write_command();
  void click(std::size_t row, std::size_t column);

  // What is drawn.
  std::vector<const Node*> shown_nodes() const;
  void draw_matrices(Grid& grid, Area area);
  void draw_map(Grid& grid, Area area);
  void draw_tile(Grid& grid, const Node& node, const Tiles& tiles, std::size_t row, std::size_t column,
                 const std::string& title);
  void draw_differences(Grid& grid, Area area);
  void draw_help(Grid& grid, Area area) const;
  void draw_panel(Grid& grid, Area area);
  void draw_shares(Grid& grid, Area area, const Cell& cell);
  void draw_moved(Grid& grid, Area area);
  void draw_heads(Grid& grid, Area area);
  void draw_footer(Grid& grid, Area area) const;
  std::size_t panel_rows(TerminalSize size, std::size_t room) const;
  std::string title() const;
  std::string told_changes() const;
  const MatrixLayout& measure(const Node& node);
  Cell chosen() const;
  const std::vector<ChangedMatrix>& differing();
  void forget_numbers();
  Cell as_it_was() const { return {place_.node, place_.row, place_.column}; }

  ExploredComputation what_;
  Style style_;
  EditableComputation changed_;
  std::vector<const Node*> steps_;  // the matrices with names
  Place place_;
  std::vector<Place> before_;
  Showing showing_ = Showing::matrices;
  std::size_t help_from_ = 0;  // the first line of the help that is seen
  bool is_transposed_ = false, is_left_ = false, is_sliding_ = false;
  struct LookedAt {
    std::string law;
    bool is_broken = false;
  };
  std::vector<LookedAt> laws_;  // that are looked at after each change
  std::optional<Question> question_;
  std::string message_;
  std::string command_;
  std::map<const Node*, MatrixLayout> measured_;
  std::optional<std::vector<ChangedMatrix>> from_second_;  // what differs from the second computation
  std::size_t compared_ = 0;                               // how many matrices were compared with it
  std::vector<MatrixBox> boxes_;                           // as they were drawn last
  std::map<const Node*, Corner> corners_;
  std::size_t first_share_ = 0;  // of the keys in the table of a softmax
};

}  // namespace attn
