#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "apart/explore/ancestry.hpp"
#include "apart/explore/editable_computation.hpp"
#include "apart/explore/explorer.hpp"
#include "apart/explore/grid.hpp"
#include "apart/explore/screenshot.hpp"
#include "command/forms.hpp"
#include "commands_tried.hpp"
#include "core/support/error.hpp"
#include "page/render/width.hpp"
#include "school/lesson/prompt.hpp"
#include "school/tutor/question.hpp"
#include "terminals.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr TerminalSize usual{80, 24};

Explorer explorer_of(const std::string& line, const Style& style = {}) {
  return Explorer({.graph = computation_of("attn " + line),
                   .command = line,
                   .random = {},
                   .without_screen = [](const Cell& cell, const auto&) { return "attn shows " + cell_name(cell); }},
                  style);
}

std::string after(Explorer& explorer, std::string_view keys, TerminalSize size = usual) {
  std::string screen = explorer.draw(size).text();
  for (const Keystroke& key : keystrokes_in(keys, Explorer::asking())) {
    explorer.press(key);
    screen = explorer.draw(size).text();
  }
  return screen;
}

std::string line_of(const std::string& screen, std::size_t i) { return std::string(split_at(screen, '\n')[i]); }

// A terminal of its own: it does what it is told by the sequences that a screen writes.
class Emulated {
 public:
  explicit Emulated(TerminalSize size) : grid_(size) {}

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.front() == '\x1b') {
        const std::size_t end = bytes.find_first_of("HJm");
        REQUIRE(end != std::string_view::npos);
        follow(bytes.substr(2, end - 2), bytes[end]);
        bytes.remove_prefix(end + 1);
        continue;
      }
      const std::size_t end = std::min(bytes.find('\x1b'), bytes.size());
      column_ = grid_.put(row_, column_, bytes.substr(0, end), look_);
      bytes.remove_prefix(end);
    }
  }
  const Grid& grid() const { return grid_; }

 private:
  void follow(std::string_view numbers, char what) {
    if (what == 'J') grid_ = Grid(grid_.size());
    if (what == 'H') {
      const std::vector<std::string_view> place = split_at(numbers, ';');
      row_ = place.size() == 2 ? std::stoul(std::string(place[0])) - 1 : 0;
      column_ = place.size() == 2 ? std::stoul(std::string(place[1])) - 1 : 0;
    }
    if (what != 'm') return;
    if (numbers == "0")
      look_ = {};
    else if (numbers == "1")
      look_.bold = true;
    else if (numbers == "2")
      look_.dim = true;
    else if (numbers == "4")
      look_.underlined = true;
    else if (numbers == "7")
      look_.reversed = true;
    else
      look_.color += "\x1b[" + std::string(numbers) + "m";
  }

  Grid grid_;
  std::size_t row_ = 0, column_ = 0;
  Look look_;
};

bool same(const Grid& a, const Grid& b) {
  for (std::size_t i = 0; i < a.size().rows; ++i) {
    for (std::size_t j = 0; j < a.size().columns; ++j) {
      if (a.at(i, j) != b.at(i, j)) return false;
    }
  }
  return a.size().rows == b.size().rows && a.size().columns == b.size().columns;
}

// A terminal whose keys were typed before, and which keeps what a screen was given.
class TypedTerminal final : public KeepingTerminal {
 public:
  TypedTerminal(std::vector<Keystroke> keys, std::string& shown) : keys_(std::move(keys)), shown_(shown) {}

  std::optional<std::string> read_line(std::string_view) override {
    if (lines.empty()) return std::nullopt;
    const std::string line = lines.front();
    lines.erase(lines.begin());
    return line;
  }
  void write(std::string_view text) override { behind += text; }
  std::optional<char> read_key() override { return std::nullopt; }
  TerminalSize size() const override { return usual; }
  std::unique_ptr<Screen> open_screen() override { return std::make_unique<Typed>(keys_, shown_); }

  std::string behind;              // what was written after the screen
  std::vector<std::string> lines;  // that are typed

 private:
  class Typed final : public Screen {
   public:
    Typed(std::vector<Keystroke>& keys, std::string& shown) : keys_(keys), shown_(shown) {}
    TerminalSize size() const override { return usual; }
    void write(std::string_view bytes) override { shown_ += bytes; }
    Keystroke next_key() override {
      if (keys_.empty()) return {.kind = Keystroke::Kind::left_off};
      const Keystroke key = keys_.front();
      keys_.erase(keys_.begin());
      return key;
    }

   private:
    std::vector<Keystroke>& keys_;
    std::string& shown_;
  };

  std::vector<Keystroke> keys_;
  std::string& shown_;
};

Environment at_terminal() {
  Environment environment = bare_environment();
  environment.output_is_terminal = true;
  return environment;
}

}  // namespace

TEST_SUITE("exploring") {
  TEST_CASE("a script of keys has their names, characters, and lines that are typed behind what asks for one") {
    const std::vector<Keystroke> keys = keystrokes_in("right = 0.5 enter g weights[a b,2] esc u", "=g");
    std::string characters;
    for (const Keystroke& key : keys) characters += key.kind == Keystroke::Kind::character ? key.text : "|";
    CHECK(characters == "|=0.5|gweights[a b,2]|u");
    CHECK(keys.front() == Keystroke{.kind = Keystroke::Kind::right});
    CHECK(keystrokes_in("", "=").empty());
    CHECK_THROWS_WITH_AS(keystrokes_in("rihgt", "="), doctest::Contains("unknown key 'rihgt'"), InputError);
  }

  TEST_CASE(
      "what differs between two screens makes one of the other on a terminal, and is short where little differs") {
    std::mt19937 random(7);
    const std::array<std::string_view, 6> texts = {"a", "é", "語", "▐0.5▌", "  ", "wörter 語語"};
    const std::array<Look, 4> looks = {Look{}, Look{.bold = true}, Look{.color = "\x1b[38;5;20m"},
                                       Look{.dim = true, .reversed = true}};
    constexpr TerminalSize size{30, 6};
    Grid before(size);
    Emulated terminal(size);
    terminal.write(screen_redraw(before));
    for (int i = 0; i < 300; ++i) {
      Grid now = i % 10 == 0 ? Grid(size) : before;
      for (int k = 0; k < 4; ++k)
        now.put(random() % size.rows, random() % size.columns, texts[random() % texts.size()],
                looks[random() % looks.size()]);
      terminal.write(screen_update(before, now));
      before = now;
    }
    CHECK(same(terminal.grid(), before));
    Grid one(usual), other(usual);
    one.put(3, 4, "0.5");
    other.put(3, 4, "0.6");
    CHECK(screen_update(one, one).empty());
    CHECK(screen_update(one, other) == "\x1b[4;7H6");
  }

  TEST_CASE("control characters reach no terminal") {
    Grid grid(usual);
    grid.put(0, 0, "a\x1b[2Jb\nc");
    CHECK(screen_update(Grid(usual), grid).find("2J") == screen_update(Grid(usual), grid).rfind("[2J") + 1);
    CHECK(has(grid.text(), "a\uFFFD[2Jb\uFFFDc"));
  }

  TEST_CASE("the walk begins at the first weights, with what they are made of and what is made of them") {
    Explorer explorer = explorer_of("walk");
    const std::string screen = after(explorer, "");
    CHECK(line_of(screen, 0).starts_with(" weights (11 of 12) · walk"));
    for (const char* part : {"▐0.8808▌", "[14]", "[12]", "(1.2384)", "share of the sum",
                             "weights[Thinking,Thinking] ≈ 0.8808", "1 / 1.1353 ≈ 0.8808", "? help"})
      CHECK_MESSAGE(has(screen, part), part << " in\n" << screen);
  }

  TEST_CASE("each key does what its help says") {
    struct Case {
      std::string_view line, keys, shows;
    };
    const std::array cases = {
        Case{"walk", "right", "▐0.1192▌"},
        Case{"walk", "l j h k l", "▐0.1192▌"},
        Case{"walk", "down", "▐0.7311▌"},
        Case{"walk", "end", "▐0.1192▌"},
        Case{"walk", "end home", "▐0.8808▌"},
        Case{"walk", "pgdn", "▐0.7311▌"},
        Case{"walk", "pgdn pgup", "▐0.8808▌"},
        Case{"walk", "enter", " scaled (9 of 12)"},
        Case{"walk", "enter backspace", " weights (11 of 12)"},
        Case{"walk", "tab", " output (12 of 12)"},
        Case{"walk", "backtab", " scaled (9 of 12)"},
        Case{"walk", "n", " output (12 of 12)"},
        Case{"walk", "N", " masked (10 of 12)"},
        Case{"walk", "n n", "output is the last matrix"},
        Case{"walk", "/ Mach enter", "weights[Machines,Thinking]"},
        Case{"walk", "/ zebra enter", "no row of weights is called 'zebra'"},
        Case{"walk", "g k[2,1] enter", " k (6 of 12)"},
        Case{"walk", "g k[2,1] esc", " weights (11 of 12)"},
        Case{"walk", "g q enter", " q (5 of 12)"},
        Case{"walk", "g nothing[1,1] enter", "nothing"},
        Case{"walk", "= 0.5 enter", "was 0.8808"},
        Case{"walk", "= 0.5 enter", "▐0.5000▼"},
        Case{"walk", "= 1/4 enter", "= 0.25  was 0.8808"},
        Case{"walk", "= 0.5 backspace backspace 9 enter", "was 0.8808"},
        Case{"walk", "= abc enter", "abc"},
        Case{"walk", "= 0.5 enter u", "▐0.8808▌"},
        Case{"walk", "= 0.5 enter = 0.7 enter u", "weights[Thinking,Thinking] 0.8808 → 0.5"},
        Case{"walk", "= 0.5 enter = 0.7 enter U", "▐0.8808▌"},
        Case{"walk", "u", "nothing is changed"},
        Case{"walk", ">", "nothing has moved"},
        Case{"walk", "g k[1,1] enter = 5 enter >", " scores (8 of 12)"},
        Case{"walk", "s right", "0.8808 → 0.89"},
        Case{"walk", "s right right left", "0.8808 → 0.89"},
        Case{"walk", "s right right u", "▐0.8808▌"},
        Case{"walk", "s right s left", "0.8808 → 0.89"},
        Case{"walk", "d", "Nothing is changed"},
        Case{"walk", "g k[1,1] enter = 5 enter d", "now − before"},
        Case{"walk", "g k[1,1] enter = 5 enter d", "cells moved"},
        Case{"walk", "d d", "▐0.8808▌"},
        Case{"walk", "m", "▓▓"},
        Case{"walk", "m enter", "▐0.8808▌"},
        Case{"walk", "g x enter m", "Thinking"},
        Case{"walk", "? esc", "▐0.8808▌"},
        Case{"walk", "?", "undo the last change, undo all"},
        Case{"walk", "? down down down down down down down down", "larger than before the change"},
        Case{"walk", "c", "attn shows weights[Thinking,Thinking]"},
        Case{"walk", "y", "y is no key here"},
        Case{"walk", "b causal(weights) enter", "weights[Thinking,Machines] ≈ 0.1192"},
        Case{"walk", "b causal(weights) enter", "causal(weights) does not hold at weights[Thinking,Machines]"},
        Case{"walk", "b row_sums(weights)=1 enter", "row_sums(weights)=1 holds"},
        Case{"walk", "b row_sums(weights)=1 enter = 0.5 enter", "row_sums(weights)=1 does not hold any more"},
        Case{"walk", "b row_sums(weights)=1 enter = 0.5 enter B right", "? help"},
        Case{"walk", "b enter", "no cell is NaN or infinite"},
        Case{"walk", "b causal(weights); finite(k) enter", "causal(weights) does not hold"},
        Case{"walk", "b row_sums(weights)=1 enter = 0.5 enter u", "row_sums(weights)=1 holds again"},
        Case{"walk", "\\ Mach enter", "weights[Thinking,Machines]"},
        Case{"walk", "\\ zebra enter", "no column of weights is called 'zebra'"},
        Case{"walk", "U", "nothing is changed"},
        Case{"walk", "g [2,1] enter", "weights[Machines,Thinking]"},
        Case{"walk --example animal", "] g weights[it,tired] enter", "head.2.weights (23 of 26)"},
        Case{"walk", "= 3 enter = weights[1,1]+1 enter", "0.8808 → 4"},
        Case{"walk", "= nan enter", "nan"},
        Case{"walk", "= 1e400 enter", "1e400"},
        Case{"walk", "e", "No head goes into weights"},
        Case{"walk --example animal", "g output[it,1] enter e", "head.1"},
        Case{"walk", "b causal(weight enter", "'"},
        Case{"walk", "]", "weights is in no head"},
        Case{"walk --example animal", "]", " head.2.weights"},
        Case{"walk --example animal", "] [", " head.1.weights"},
        Case{"walk --example animal", "[", "there is no head 0 beside head.1"},
        Case{"transformer --layers 2 --seed 1", "}", "encoder.2."},
        Case{"transformer --layers 2 --seed 1", "} {", "encoder.1."},
    };
    for (const Case& one : cases) {
      Explorer explorer = explorer_of(std::string(one.line));
      const std::string screen = after(explorer, one.keys);
      CHECK_MESSAGE(has(screen, one.shows), one.line << ", " << one.keys << ": no '" << one.shows << "' in\n"
                                                     << screen);
      CHECK_FALSE(explorer.is_left());
    }
    Explorer explorer = explorer_of("walk");
    after(explorer, "q");
    CHECK(explorer.is_left());
  }

  TEST_CASE("every key that is told in the help is one, and so is every character that is a key told there") {
    Explorer explorer = explorer_of("walk");
    const std::string help = after(explorer, "?", {80, 60});
    for (char c = '!'; c <= '~'; ++c) {
      Explorer tried = explorer_of("walk");
      tried.draw(usual);
      tried.press(character_key(std::string(1, c)));
      const bool is_key = !has(tried.draw(usual).text(), "is no key here");
      bool is_told = std::string_view("hjkl").find(c) != std::string_view::npos;
      for (const std::string_view line : split_at(help, '\n')) {
        const std::string_view keys = line.substr(0, std::min<std::size_t>(line.size(), 12));
        for (const std::string_view word : split_at(keys, ' ')) is_told = is_told || word == std::string(1, c);
      }
      CHECK_MESSAGE(is_key == is_told, std::string(1, c));
    }
  }

  TEST_CASE("a number that is set gives what the computation gives that has it from the beginning") {
    const auto graph = computation_of("attn walk --q '1 2; 0 1' --k '1 0; 2 1; 0 3' --v '1; 2; 3'");
    const auto other = computation_of("attn walk --q '1 2; 0 1' --k '1 0; 7.5 1; 0 3' --v '1; 2; 3'");
    EditableComputation changed(*graph);
    changed.set({&graph->at("k"), 1, 0, 7.5});
    for (const Node* node : graph->named()) {
      const Matrix &now = changed.now(*node).matrix(), &expected = other->at(node->name).matrix();
      for (std::size_t i = 0; i < now.shape().rows; ++i) {
        for (std::size_t j = 0; j < now.shape().columns; ++j) CHECK(now(i, j) == expected(i, j));
      }
    }
    CHECK_FALSE(changed.has_changed(graph->at("q")));
    REQUIRE_FALSE(changed.moved().empty());
    CHECK(changed.moved().front().node->name == "k");
    CHECK(changed.moved().front().moved.cells == 1);
    // One in the middle, on top of it: what stands before it stays, and what follows is made of it.
    changed.set({&graph->at("weights"), 0, 2, 0.0});
    const Node& output = changed.now(graph->at("output"));
    const Matrix& weights = other->at("weights").matrix();
    CHECK(output.cell(0, 0) == doctest::Approx(weights(0, 0) * 1 + weights(0, 1) * 2).epsilon(1e-15));
    CHECK(changed.undo());
    CHECK(changed.now(graph->at("output")).cell(0, 0) == other->at("output").cell(0, 0));
    CHECK(changed.undo());
    CHECK_FALSE(changed.undo());
    CHECK(&changed.now(graph->at("k")) == &graph->at("k"));
  }

  TEST_CASE("after all is undone, the screen is the one before, bit for bit") {
    for (const char* line : {"walk --example animal", "transformer --example pattern", "align"}) {
      Explorer explorer = explorer_of(line);
      const std::string before = after(explorer, "");
      const std::string changed = after(explorer, "= 0.125 enter");
      CHECK(changed != before);
      CHECK(after(explorer, "U") == before);
    }
  }

  TEST_CASE("what a cell is made of is what its explanation is made of") {
    const auto graph = computation_of("attn walk --example animal");
    const Node &weights = graph->at("head.1.weights"), &scaled = graph->at("head.1.scaled"), &v = graph->at("head.1.v");
    const Node& output = graph->at("head.1.output");
    CHECK(is_made_of({&weights, 7, 1}, {&scaled, 7, 4}));
    CHECK_FALSE(is_made_of({&weights, 7, 1}, {&scaled, 6, 1}));
    CHECK(is_made_of({&output, 7, 2}, {&v, 3, 2}));
    CHECK_FALSE(is_made_of({&output, 7, 2}, {&v, 3, 1}));
    CHECK(is_made_of({&output, 7, 2}, {&weights, 7, 10}));
    const std::vector<const Node*> made = dependents_of_node(weights);
    REQUIRE(made.size() == 1);
    CHECK(made.front() == &output);
    each_named_part(graph->at("x"), 0, 0, [](const CellsOfOperand&) { FAIL("an input is made of nothing"); });
  }

  TEST_CASE("a screen of any size is drawn, and whatever keys come, a cell is chosen and nothing is lost") {
    const std::array lines = {"walk",
                              "walk --example animal",
                              "walk --example padding",
                              "transformer --example pattern",
                              "align",
                              "encoder --seed 3",
                              "walk --x '1' --wq '1' --wk '1' --wv '1'"};
    const std::array<TerminalSize, 9> sizes = {
        TerminalSize{80, 24}, {120, 40}, {40, 12}, {1, 1}, {20, 3}, {200, 60}, {24, 15}, {79, 16}, {30, 200}};
    const std::array words = {"up",   "down", "left", "right", "enter", "backspace", "tab", "backtab", "esc",    "pgup",
                              "pgdn", "home", "end",  "0",     "1",     "-",         ".",   "x",       "q[1,1]", "e"};
    std::mt19937 random(11);
    for (const char* line : lines) {
      Explorer explorer = explorer_of(line);
      for (int i = 0; i < 1500; ++i) {
        Keystroke key;
        const std::uint32_t what = random() % 10;
        if (what < 5) {
          const std::string_view word = words[random() % words.size()];
          for (const Keystroke& one :
               keystrokes_in(word.size() > 1 && word[1] == '[' ? "g " + std::string(word) : word, "g"))
            explorer.press(one);
          continue;
        }
        if (what == 9) {
          key = {.kind = Keystroke::Kind::mouse, .row = random() % 40, .column = random() % 120};
        } else {
          key = character_key(std::string(1, static_cast<char>(' ' + random() % 95)));
          if (key.text == "q") continue;
        }
        explorer.press(key);
        const Grid grid = explorer.draw(sizes[random() % sizes.size()]);
        CHECK_FALSE(explorer.is_left());
        const bool is_drawn = grid.text().find_first_not_of(" \n") != std::string::npos;
        CHECK(is_drawn);
      }
    }
  }

  TEST_CASE("a click chooses the cell that it is on") {
    Explorer explorer = explorer_of("walk");
    const Grid grid = explorer.draw(usual);
    for (std::size_t row = 0; row < usual.rows; ++row) {
      for (std::size_t column = 0; column + 6 < usual.columns; ++column) {
        std::string text;
        for (std::size_t i = 0; i < 6; ++i) text += grid.at(row, column + i).text;
        if (text != "0.2689") continue;
        explorer.press({.kind = Keystroke::Kind::mouse, .row = row, .column = column + 1});
        CHECK(has(explorer.draw(usual).text(), "weights[Machines,Machines]"));
        return;
      }
    }
    FAIL("0.2689 stands nowhere");
  }

  TEST_CASE("without Unicode, all signs are ASCII, and columns stand where they stood") {
    Style style;
    style.unicode = false;
    Explorer explorer = explorer_of("walk", style);
    for (const char* keys : {"", "m", "m = 0.5 enter", "d", "d ?"}) {
      const std::string screen = after(explorer, keys);
      CHECK(is_ascii(screen));
    }
    CHECK(has(after(explorer, "esc U"), ">0.8808<"));
  }

  TEST_CASE("each number of colors colors the cells, and no sign is lost without them") {
    for (const Colors colors : {Colors::sixteen, Colors::palette256, Colors::full}) {
      for (const Rgb ground : {Rgb{0, 0, 0}, Rgb{255, 255, 255}}) {
        Style style;
        style.colors = colors;
        style.ground = ground;
        Explorer explorer = explorer_of("walk", style), plain = explorer_of("walk");
        CHECK(after(explorer, "") == after(plain, ""));
        CHECK(has(screen_redraw(explorer.draw(usual)), "\x1b[35m"));
        CHECK_FALSE(has(screen_redraw(plain.draw(usual)), "\x1b[35m"));
      }
    }
  }

  TEST_CASE(
      "at a terminal, only what differs is written for a key, and the command line that was asked for at the end") {
    std::string shown;
    TypedTerminal terminal(keystrokes_in("right left c q", ""), shown);
    const Answer asked = answer({"explore", "--example", "animal"}, at_terminal());
    REQUIRE(asked.session);
    asked.session(terminal, {});
    CHECK(terminal.behind == "attn walk --example animal --explain 'head.1.weights[The,The]'\n");
    Emulated emulated(usual);
    emulated.write(shown);
    CHECK(has(emulated.grid().text(), "head.1.weights (15 of 26)"));
    CHECK(shown.size() < 8000);
  }

  TEST_CASE("the command line of a change sets it") {
    std::string shown;
    TypedTerminal terminal(keystrokes_in("g k[2,1] enter = 0.5 enter c q", "g="), shown);
    answer({"explore", "walk", "--keys", "right", "--q", "1 2", "--k", "1 0; 2 1", "--v", "1; 2"}, at_terminal())
        .session(terminal, {});
    CHECK(terminal.behind == "attn what-if walk --q '1 2' --k '1 0; 2 1' --v '1; 2' --set 'k[2,1]=0.5'\n");
  }

  TEST_CASE("a question may offer a screen of its matrices, which opens after its keys") {
    const auto graph = computation_of("attn walk");
    Question question{.ask = "How much?", .kind = AnswerKind::number, .of = "weights[1,1]", .explore = "right"};
    question.on = "attn walk";
    for (const bool offers : {true, false}) {
      if (!offers) question.explore.reset();
      SolvedQuestion solved = solve(question, *graph);
      solved.graph = graph;
      std::string shown;
      TypedTerminal terminal(keystrokes_in("q", ""), shown);
      terminal.lines = {"explore", "0.88"};
      Conversation conversation(terminal, {});
      conversation.runs_with([](const Words& words, Terminal& at, const Style& style) {
        CHECK(words == Words{"explore", "walk", "--keys", "right"});
        answer(words, at_terminal()).session(at, style);
      });
      bool was_right = false;
      const KeyPress pressed = ask(solved, {conversation, lesson_keys(), "1/1"},
                                   {[&](const std::string&, bool right) { was_right = right; }, [] {}});
      CHECK(pressed.action == LessonAction::next);
      CHECK(was_right);
      CHECK(has(terminal.behind, "a screen of all matrices") == offers);
      CHECK(has(terminal.behind, "offers no screen") != offers);
      Emulated emulated(usual);
      emulated.write(shown);
      CHECK(has(emulated.grid().text(), "weights[Thinking,Machines]") == offers);
    }
  }

  TEST_CASE("every view is printed without a terminal, and drawn as a picture") {
    for (const Explorer::View& view : Explorer::views()) {
      const ProcessResult finished = accepted({"explore", "--print", std::string(view.name)});
      CHECK_MESSAGE(split_at(finished.out, '\n').size() <= usual.rows + 1, view.name);
      CHECK(finished.out == accepted({"walk", "--explore", "--print", std::string(view.name)}).out);
    }
    const TemporaryFolder folder;
    const std::string path = folder.path("x.svg");
    accepted({"explore", "--keys", "right = 0.5 enter", "--picture", path, "--screen", "100x30"});
    const std::string svg = bytes_of(path);
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(has(svg, ">▐0.5000▲<"));
  }

  TEST_CASE("a second computation is compared by name and shape, from the first difference on") {
    const Words words = {"explore", "--print", "differences", "--example", "animal", "--second"};
    const auto with = [&](std::string second) {
      Words all = words;
      all.push_back(std::move(second));
      return accepted(all).out;
    };
    CHECK(line_of(with("walk --example animal --scale 1"), 0).starts_with(" head.1.scaled "));
    CHECK(has(with("walk --example animal"), "Compared by name and shape, 24 matrices are equal, to the last bit."));
    CHECK(has(with("walk --text 'a b c'"), "No matrix of the two computations has the same name and the same shape."));
  }

  TEST_CASE("of a softmax with NaN, its arithmetic is shown and no table of shares") {
    Explorer explorer = explorer_of("walk");
    const std::string screen =
        after(explorer, "g k[1,1] enter = 1e200 enter g q[1,1] enter = 1e200 enter g weights[1,1] enter");
    CHECK(has(screen, "▐NaN▌"));
    CHECK(has(screen, "weights[Thinking,Thinking] = NaN"));
    CHECK_FALSE(has(screen, "share of the sum"));
  }

  TEST_CASE("a walk about matrices of a file") {
    const TemporaryFolder folder;
    const std::string path = folder.path("trace.json");
    accepted({"walk", "--format", "json", "-o", path});
    const std::string screen =
        accepted({"explore", "--trace", path, "--print", "matrices", "--keys", "g weights enter"}).out;
    CHECK(has(screen, "▐0.8808▌"));
  }

  TEST_CASE("what cannot be explored is refused in a sentence") {
    struct Case {
      Words words;
      std::string_view says;
    };
    const std::array cases = {
        Case{{"explore", "--print", "everything"}, "unknown view 'everything'"},
        Case{{"explore", "--keys", "rihgt", "--print", "map"}, "unknown key 'rihgt' (did you mean 'right'?)"},
        Case{{"explore", "--print", "map", "--screen", "80"}, "give columns and rows, such as 80x24"},
        Case{{"explore", "--print", "map", "--screen", "0x5"}, "a screen has from 1 to 500"},
        Case{{"walk", "--screen", "80x24"}, "--screen belongs to --explore"},
        Case{{"explore", "examples"}, "examples"},
        Case{{"walk", "--keys", "right"}, "--keys belongs to --explore"},
        Case{{"explore", "--trace", "nothing.json"}, "nothing.json"},
        Case{{"explore", "--picture", "x.png"}, "--picture x.png: a picture is SVG"},
        Case{{"explore", "--as", "weights"}, "--as belongs to --trace"},
        Case{{"explore", "--second", "nothing at all"}, "--second"},
    };
    for (const Case& one : cases) {
      const ProcessResult finished = run_attn(one.words);
      CHECK_MESSAGE(finished.code == 2, command_line(one.words));
      CHECK_MESSAGE(has(finished.errors, one.says), finished.errors);
    }
  }
}
