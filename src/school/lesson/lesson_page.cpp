#include "school/lesson/lesson_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "core/op/operations.hpp"
#include "core/support/text.hpp"
#include "page/document/document_outputs.hpp"
#include "page/render/format.hpp"
#include "page/render/html.hpp"
#include "page/tell/describe.hpp"
#include "school/browser/browser_document.hpp"
#include "school/browser/computation.hpp"
#include "school/browser/script.hpp"
#include "school/lesson/page_data.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/show.hpp"
#include "school/lesson/whole_lesson.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {

namespace {

// --- live result

// The most matrices, and numbers of them, that a computation of a lesson may have to be live on a page: with
// inputs, and with what is made on the way.
constexpr std::size_t most_live_matrices = 85, most_live_numbers = 3'000;

// What a command has computed, as far as the page of the lesson shows it and a reader can change it.
struct LiveResult {
  std::vector<const Node*> nodes;    // what its output shows, and all that this is computed from
  std::vector<const Node*> results;  // that have a table
  std::vector<const Node*> behind;   // that get a table behind the output, to be changed there
};

// Why nothing of a result can be changed.
enum class Still { computes_nothing, too_large };

bool shows(const Table& table, const Node& node) {
  return cells(*table.cells).size() == node.frame.shape.cells() && table.cells->shape() == node.frame.shape &&
         std::ranges::equal(cells(*table.cells), cells(node.matrix()),
                            [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

// The matrices of a computation that blocks have tables of; nothing where a table has other numbers than the
// matrix that it names.
std::optional<std::set<const Node*>> shown_in(const std::vector<Block>& blocks, const Graph& graph) {
  std::set<const Node*> shown;
  bool all_are = true;
  const auto collect = [&](const Table& table) {
    const Node* const node = table.array.empty() ? nullptr : graph.find(table.array);
    if (node && shows(table, *node)) {
      shown.insert(node);
    } else if (node) {
      all_are = false;
    }
  };
  for (const Table& table : tables_of(blocks)) collect(table);
  if (!all_are) return std::nullopt;
  return shown;
}

// A graph that is only counted has inputs without numbers.
bool has_or_makes_numbers(const Node* node) { return node->op || node->given || node->made; }

std::size_t count_of_numbers(const std::vector<const Node*>& nodes) {
  std::size_t count = 0;
  for (const Node* node : nodes) count += node->frame.shape.cells();
  return count;
}

// Whether a node is a named input of a computation.
bool is_input(const Node& node) { return !node.op && !node.name.empty(); }

// What of a result can be changed. An output with tables is followed by the inputs that it does not show;
// one without tables, such as how a number was made, by all matrices.
std::variant<Still, LiveResult> live(const CommandResult& result) {
  const Graph* const graph = result.computation.graph.get();
  if (!graph || look_up(formats(), result.format, "format").audience != Audience::readers) return {};
  const std::optional<std::set<const Node*>> shown = shown_in(result.page->blocks, *graph);
  if (!shown) return {};
  LiveResult live;
  const bool shows_results = std::ranges::any_of(*shown, [](const Node* node) { return !is_input(*node); });
  std::vector<const Node*> asked(shown->begin(), shown->end());
  if (!shows_results) {
    constexpr std::size_t most_behind = 400;
    std::erase_if(asked = graph->named(), [](const Node* node) { return node->is_alias(); });
    if (count_of_numbers(asked) > most_behind) return {};
  }
  live.nodes = with_all_behind(asked);
  if (live.nodes.size() > most_live_matrices || count_of_numbers(live.nodes) > most_live_numbers)
    return Still::too_large;
  if (!std::ranges::all_of(live.nodes, has_or_makes_numbers)) return {};
  constexpr std::size_t most_of_input = 400;
  for (const Node* node : live.nodes) {
    const bool has_table = shown->contains(node);
    const bool is_small_input = is_input(*node) && node->frame.shape.cells() <= most_of_input;
    const bool gets_table = !has_table && (shows_results ? is_small_input : std::ranges::count(asked, node) > 0);
    if (gets_table) live.behind.push_back(node);
    if (node->op && (has_table || gets_table)) live.results.push_back(node);
  }
  const bool has_input = std::ranges::any_of(live.nodes, [](const Node* node) { return is_input(*node); });
  if (live.results.empty() || !has_input) return {};
  return live;
}

// --- lesson page

class LessonPage {
 public:
  LessonPage(const Lesson& lesson, const RunCommand& run)
      : lesson_(lesson),
        keys_(keys_of(lesson)),
        result_(execute(lesson, run, [this](const BlockResult& block) { add_output(block); })) {
    for (const Puzzle& puzzle : lesson_.puzzles) add_puzzle(puzzle);
  }

  void write(Sink& sink) {
    std::string markdown;
    std::vector<std::string> pieces;
    for (const LessonStep& step : lesson_.steps) {
      markdown += without_placeholders(markdown_of(lesson_, step));
      for (std::string& piece : split_at(step)) {
        markdown += fmt::format("\n{}\n\n", placeholder);
        pieces.push_back(std::move(piece));
      }
    }
    refuse_long_document(markdown, lesson_.document.path + " would be");
    const std::string rules = std::string(browser_style()) + std::string(lesson_style());
    write_document({.title = lesson_.title,
                    .script = script_of_operations(operations()) + std::string(lesson_script()),
                    .rules = rules,
                    .pictures = has_pictures(markdown) ? places_of_pictures : "",
                    .content = html_of_blocks(opening_of(lesson_)) + live_part() + html_of(markdown, pieces) +
                               html_of_end() + std::string(browser_explanation()),
                    .data = data()},
                   sink);
  }

 private:
  static constexpr std::string_view beginning =
      "<noscript><p class=\"aside\">This page is complete without scripts. "
      "With them, answers are checked, every number can be explained and inputs can be changed.</p></noscript>\n"
      "<div id=\"live\" hidden>\n";
  static constexpr std::string_view about_tables =
      "<details class=\"aside\" id=\"about-tables\"><summary>The numbers on this page</summary>\n"
      "<p id=\"agreement\" role=\"status\"></p>\n"
      "<p>Choose a number in a table, with a click or with Tab and the arrow keys, to see how it was made. "
      "Numbers in the tables marked “input” can be changed: press Enter, or click or tap twice. "
      "Tables of the same command follow.</p></details>\n";
  static constexpr std::string_view about_large =
      "<p class=\"aside\">This command computes too many numbers for this page: they cannot be changed here.</p>\n";
  static constexpr std::string_view about_steps =
      "<p class=\"aside\" id=\"steps\">What follows a question appears when it is answered. "
      "<button type=\"button\" id=\"all\">Show the whole lesson</button></p>\n";

  std::string live_part() const {
    const bool asks = !lesson_.questions.empty() || !lesson_.puzzles.empty();
    return fmt::format("{}{}{}</div>\n", beginning, computations_.empty() ? "" : about_tables, asks ? about_steps : "");
  }

  static std::string html_of_blocks(const std::vector<Block>& blocks, const Style& style = {},
                                    std::string ids = "drawing") {
    return in_text([&](Sink& sink) { html_writer(style, sink, std::move(ids))->write(blocks); });
  }

  static bool has_pictures(std::string_view markdown) { return markdown.find("![") != std::string_view::npos; }

  // What stands behind the text of a step: a question, or what commands print.
  std::vector<std::string> split_at(const LessonStep& step) {
    if (step.question) {
      open_.push_back(*step.question);
      return {html_of_question(*step.question)};
    }
    if (step.puzzle) return {html_of_puzzle(*step.puzzle)};
    if (!step.commands) return {};
    const std::string& output = outputs_[*step.commands];
    const std::vector<std::size_t> answers = std::exchange(open_, {});
    if (answers.empty()) return {output};
    return {
        fmt::format("<details class=\"solution\" data-answers=\"{}\">\n"
                    "<summary>What it prints, with the answer</summary>\n{}</details>\n",
                    fmt::join(answers, " "), output)};
  }

  // With what the numbers at its beginning give; the script lets a reader set others.
  std::string html_of_puzzle(std::size_t number) const {
    const std::string lesson = lesson_.document.folder ? lesson_.document.path : without_zeros(lesson_.number);
    const PlayedPuzzle& played = played_[number];
    const std::string terminal =
        html_of_blocks({Prose{text("Take it at a terminal: ", code("attn lesson run " + lesson), ".")}});
    std::string html = fmt::format("<section class=\"puzzle\" data-puzzle=\"{}\">\n", number) +
                       html_of_blocks(below_headings(opening_of(lesson_.puzzles[number]))) +
                       (played.inputs.empty() ? terminal : "<noscript>" + terminal + "</noscript>\n");
    for (std::size_t i = 0; i < played.inputs.size(); ++i) {
      const std::vector<const Node*>& shown = played.inputs[i].shown;
      SideBySide tables;
      for (const Node* node : shown) tables.tables.push_back(table_of(*node));
      const std::string which =
          played.inputs.size() > 1 ? fmt::format("<p>With input {} of {}:</p>\n", i + 1, played.inputs.size()) : "";
      html += fmt::format("<div class=\"result\" data-of-puzzle=\"{}\">\n{}{}</div>\n", played.computations[i], which,
                          html_of_blocks({std::move(tables)}, {}, fmt::format("puzzle-{}-{}", number, i)));
    }
    return html + "</section>\n";
  }

  std::string html_of_question(std::size_t number) const {
    const Question& question = lesson_.questions[number];
    std::string html = fmt::format(
        "<section class=\"question\" data-question=\"{0}\" aria-labelledby=\"question-{1}\">\n"
        "<p id=\"question-{1}\" class=\"asked\"><strong>Question {1}.{2}</strong> {3}</p>\n",
        number, number + 1, question.predicts ? " Predict:" : "", in_markup(question.ask));
    if (!question.choices.empty()) {
      html += "<ol class=\"choices\">\n";
      for (const std::string& choice : question.choices) html += "<li>" + in_markup(choice) + "</li>\n";
      html += "</ol>\n";
    }
    return html + "</section>\n";
  }

  void add_output(const BlockResult& block) {
    std::string html;
    for (std::size_t i = 0; i < block.results.size(); ++i)
      html += html_of_result(block.results[i], fmt::format("drawing-{}-{}", outputs_.size() + 1, i + 1));
    outputs_.push_back(std::move(html));
  }

  void add_puzzle(const Puzzle& puzzle) {
    PlayedPuzzle& played = played_.emplace_back();
    played.inputs = played_inputs(puzzle, result_.run).value_or(std::vector<PlayedInput>());
    for (const PlayedInput& input : played.inputs) {
      played.computations.push_back(
          index_of_node(input.nodes, [&](const Node& node) { return std::ranges::count(input.shown, &node) > 0; }));
    }
  }

  std::string html_of_result(const CommandResult& result, std::string ids) {
    if (look_up(formats(), result.format, "format").audience != Audience::readers)
      return html_of_blocks({CodeBlock{std::string(result.format), result.text}}, result.style, std::move(ids));
    const std::string output = html_of_blocks(below_headings(result.page->blocks), result.style, std::move(ids));
    const std::variant<Still, LiveResult> found = live(result);
    const LiveResult* const computed = std::get_if<LiveResult>(&found);
    if (!computed) {
      const std::string_view why = std::get<Still>(found) == Still::too_large ? about_large : "";
      return fmt::format("<div class=\"result\">\n{}{}</div>\n", output, why);
    }
    return fmt::format("<div class=\"result\" data-computation=\"{}\" data-precision=\"{}\">\n{}{}</div>\n",
                       index_of_node(*computed), result.style.precision, output,
                       html_of_tables_behind(computed->behind, result.style));
  }

  std::size_t index_of_node(const LiveResult& live) {
    return index_of_node(live.nodes, [&](const Node& node) { return std::ranges::count(live.results, &node) > 0; });
  }

  // The same computation stands in the data once.
  std::size_t index_of_node(std::span<const Node* const> nodes,
                            const std::function<bool(const Node& node)>& is_compared) {
    std::string text = in_json([&](JsonWriter& json) { write_computation(nodes, is_compared, json); });
    const auto found = std::ranges::find(computations_, text);
    const auto place = static_cast<std::size_t>(found - computations_.begin());
    if (found == computations_.end()) computations_.push_back(std::move(text));
    return place;
  }

  // Headings of an output stand below those of the lesson.
  static std::vector<Block> below_headings(std::vector<Block> blocks) {
    constexpr int highest = 3;
    const int below = highest - highest_heading(blocks);
    for (Block& block : blocks) {
      if (Heading* const heading = std::get_if<Heading>(&block)) heading->level += below;
    }
    return blocks;
  }

  static std::string html_of_tables_behind(const std::vector<const Node*>& nodes, const Style& style) {
    if (nodes.empty()) return "";
    SideBySide tables;
    for (const Node* node : nodes) tables.tables.push_back(table_of(*node));
    const bool are_inputs = std::ranges::all_of(nodes, [](const Node* node) { return is_input(*node); });
    return fmt::format("<details class=\"behind\">\n<summary>{}</summary>\n{}</details>\n",
                       are_inputs ? "Change the inputs" : "Change the numbers",
                       html_of_blocks({std::move(tables)}, style));
  }

  std::string html_of_end() const {
    std::vector<Block> blocks = closing_of(lesson_, counts_of(lesson_, {}));
    blocks.erase(blocks.begin());  // which counts answers: the script does
    return "<section id=\"end\">\n<h2>End of the lesson</h2>\n<p id=\"score\" role=\"status\"></p>\n" +
           html_of_blocks(blocks) + "</section>\n";
  }

  std::string data() const {
    const std::string lesson = in_json([this](JsonWriter& json) { write_lesson(json); });
    return fmt::format("{{\"lesson\": {},\n\"computations\": [{}]}}", lesson, fmt::join(computations_, ",\n"));
  }

  void write_lesson(JsonWriter& json) const {
    json.begin_object();
    json.key("name");
    json.string(progress_name(lesson_));
    json.key("questions");
    json.begin_array();
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const LessonStep& step = lesson_.steps[i];
      if (step.question) write_question(result_.questions[*step.question], keys_[i], json);
    }
    json.end_array();
    json.key("puzzles");
    json.begin_array();
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      if (!lesson_.steps[i].puzzle) continue;
      const PlayedPuzzle& played = played_[*lesson_.steps[i].puzzle];
      write_puzzle(lesson_.puzzles[*lesson_.steps[i].puzzle], keys_[i], played.inputs, played.computations, json);
    }
    json.end_array();
    json.end_object();
  }

  // A puzzle that only the program can play has no inputs.
  struct PlayedPuzzle {
    std::vector<PlayedInput> inputs = {};
    std::vector<std::size_t> computations = {};  // of each
  };

  const Lesson& lesson_;
  std::vector<std::string> keys_;
  std::vector<std::string> outputs_;       // of each block, as HTML
  std::vector<std::string> computations_;  // as JSON
  std::vector<PlayedPuzzle> played_;       // in the order of the lesson's puzzles
  LessonResult result_;                    // which adds to the two before it
  std::vector<std::size_t> open_;          // questions that no block has answered yet
};

}  // namespace

// --- lesson page

void write_lesson_page(const Lesson& lesson, const RunCommand& run, Sink& sink) { LessonPage(lesson, run).write(sink); }

}  // namespace attn
