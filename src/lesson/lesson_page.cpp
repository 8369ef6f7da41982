#include "lesson/lesson_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "browser/computation.hpp"
#include "browser/document.hpp"
#include "browser/files.hpp"
#include "lesson/live_result.hpp"
#include "lesson/printed.hpp"
#include "lesson/progress.hpp"
#include "lesson/puzzle_data.hpp"
#include "lesson/question_data.hpp"
#include "lesson/show.hpp"
#include "puzzle/show.hpp"
#include "render/format.hpp"
#include "render/html.hpp"
#include "render/markup.hpp"
#include "support/lookup.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

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
      for (std::string& piece : pieces_of(step)) {
        markdown += fmt::format("\n{}\n\n", placeholder);
        pieces.push_back(std::move(piece));
      }
    }
    refuse_long_document(markdown, lesson_.document.path + " would be");
    const std::string rules = std::string(browser_style()) + std::string(lesson_style());
    write_document({.title = lesson_.title,
                    .script = lesson_script(),
                    .rules = rules,
                    .pictures = has_pictures(markdown) ? "'self' data: file:" : "",
                    .content = html_of_blocks(opening_of(lesson_)) + live_part() + html_of(markdown, pieces) +
                               html_of_end() + std::string(browser_explanation()),
                    .data = data()},
                   sink);
  }

 private:
  static constexpr std::string_view beginning =
      "<noscript><p class=\"aside\">This page is complete without scripts. With them, answers are checked, "
      "every number can be explained and inputs can be changed.</p></noscript>\n"
      "<div id=\"live\" hidden>\n";
  static constexpr std::string_view about_tables =
      "<p id=\"agreement\" role=\"status\"></p>\n"
      "<p class=\"aside\">Choose a number in a table, with the mouse or with Tab and the arrow keys, to see "
      "how it was made. Numbers in the tables marked “input” can be changed: press Enter, or click twice. "
      "Tables of the same command follow.</p>\n";
  static constexpr std::string_view about_large =
      "<p class=\"aside\">This command computes too many numbers for this page: they cannot be changed "
      "here.</p>\n";
  static constexpr std::string_view about_steps =
      "<p class=\"aside\" id=\"steps\">What follows a question appears when it is answered. "
      "<button type=\"button\" id=\"all\">Show the whole lesson</button></p>\n";

  std::string live_part() const {
    const bool asks = !lesson_.questions.empty() || !lesson_.puzzles.empty();
    return fmt::format("{}{}{}</div>\n", beginning, computations_.empty() ? "" : about_tables,
                       asks ? about_steps : "");
  }

  static std::string html_of_blocks(const std::vector<Block>& blocks, const Style& style = {},
                                    std::string ids = "drawing") {
    return in_text([&](Sink& sink) { html_writer(style, sink, std::move(ids))->write(blocks); });
  }

  static bool has_pictures(std::string_view markdown) {
    return markdown.find("![") != std::string_view::npos;
  }

  // What stands behind the text of a step: a question, or what commands print.
  std::vector<std::string> pieces_of(const LessonStep& step) {
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
        fmt::format("<details class=\"solution\" data-answers=\"{}\">\n<summary>What it prints, with the "
                    "answer</summary>\n{}</details>\n",
                    fmt::join(answers, " "), output)};
  }

  // With what the numbers at its beginning give; the script lets a reader set others.
  std::string html_of_puzzle(std::size_t number) const {
    const std::string lesson =
        lesson_.document.folder ? lesson_.document.path : without_zeros(lesson_.number);
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
          played.inputs.size() > 1 ? fmt::format("<p>With input {} of {}:</p>\n", i + 1, played.inputs.size())
                                   : "";
      html +=
          fmt::format("<div class=\"result\" data-of-puzzle=\"{}\">\n{}{}</div>\n", played.computations[i],
                      which, html_of_blocks({std::move(tables)}, {}, fmt::format("puzzle-{}-{}", number, i)));
    }
    return html + "</section>\n";
  }

  std::string html_of_question(std::size_t number) const {
    const Question& question = lesson_.questions[number];
    std::string html = fmt::format(
        "<section class=\"question\" data-question=\"{0}\" aria-labelledby=\"question-{1}\">\n"
        "<p id=\"question-{1}\" class=\"asked\"><strong>Question {1}.</strong> {2}</p>\n",
        number, number + 1, in_markup(question.ask));
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
      played.computations.push_back(place_of(
          input.nodes, [&](const Node& node) { return std::ranges::count(input.shown, &node) > 0; }));
    }
  }

  std::string html_of_result(const CommandResult& result, std::string ids) {
    if (look_up(formats(), result.format, "format").audience != Audience::readers)
      return html_of_blocks({CodeBlock{std::string(result.format), result.text}}, result.style,
                            std::move(ids));
    const std::string output =
        html_of_blocks(below_headings(result.page->blocks), result.style, std::move(ids));
    const std::variant<Still, LiveResult> found = live(result);
    const LiveResult* const computed = std::get_if<LiveResult>(&found);
    if (!computed) {
      const std::string_view why = std::get<Still>(found) == Still::too_large ? about_large : "";
      return fmt::format("<div class=\"result\">\n{}{}</div>\n", output, why);
    }
    return fmt::format("<div class=\"result\" data-computation=\"{}\" data-precision=\"{}\">\n{}{}</div>\n",
                       place_of(*computed), result.style.precision, output,
                       html_of_tables_behind(computed->behind, result.style));
  }

  std::size_t place_of(const LiveResult& live) {
    return place_of(live.nodes,
                    [&](const Node& node) { return std::ranges::count(live.results, &node) > 0; });
  }

  // The same computation stands in the data once.
  std::size_t place_of(std::span<const Node* const> nodes,
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
    return fmt::format("{{\"lesson\": {},\n\"computations\": [{}]}}", lesson,
                       fmt::join(computations_, ",\n"));
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
      write_puzzle(lesson_.puzzles[*lesson_.steps[i].puzzle], keys_[i], played.inputs, played.computations,
                   json);
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

void write_lesson_page(const Lesson& lesson, const RunCommand& run, Sink& sink) {
  LessonPage(lesson, run).write(sink);
}

}  // namespace attn
