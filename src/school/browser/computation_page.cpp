#include "school/browser/computation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "core/graph/find.hpp"
#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/fields.hpp"
#include "page/render/html.hpp"
#include "page/tell/describe.hpp"
#include "school/browser/browser_document.hpp"
#include "school/browser/computation.hpp"
#include "school/browser/script.hpp"

namespace attn {

namespace {

// --- question

// A question that a reader has about a computation: about one row of some attention weights.
struct OpeningQuestion {
  std::string before, after;            // what stands before the word that is asked about, and after it
  const Node* weights = nullptr;        // null: it is about no weights
  std::size_t query = 0;                // the row of the weights
  std::string rows = {}, columns = {};  // what rows and columns of the weights are, in words
};

bool are_of_the_same_words(const Frame& frame) {
  return frame.shape.rows == frame.shape.columns && frame.rows.labels && frame.columns.labels &&
         *frame.rows.labels == *frame.columns.labels;
}

// What is asked of weights.
void tell_weights(OpeningQuestion& question) {
  question.before = "What does ";
  question.after = " attend to?";
  const Frame& frame = question.weights->frame;
  question.rows = frame.rows.labels ? "Each row is a query: a word that attends to others."
                                    : "Each row is a query, which attends to keys.";
  question.columns = frame.columns.labels ? "Each column is a key: a word that is attended to."
                                          : "Each column is a key, which is attended to.";
}

// The question to begin with: about the query that gives another word the largest weight.
OpeningQuestion opening_question(const Graph& graph) {
  OpeningQuestion question{.before = "How was each number made?", .after = ""};
  double most = -1.0;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::weights) || node.is_alias()) continue;
    const Matrix& weights = node.matrix();
    const bool is_of_itself = are_of_the_same_words(node.frame);
    for (std::size_t i = 0; i < weights.shape().rows; ++i) {
      for (std::size_t j = 0; j < weights.shape().columns; ++j) {
        const double weight = is_of_itself && i == j ? 0.0 : weights(i, j);
        if (!(weight > most)) continue;
        most = weight;
        question.weights = &node;
        question.query = i;
      }
    }
  }
  if (question.weights) tell_weights(question);
  return question;
}

// The question about one query, in the first attention that has it.
OpeningQuestion question_about(const std::string& word, const Graph& graph) {
  std::vector<const Node*> all;
  for (const Node& node : graph.nodes()) {
    if (node.is(role::weights) && !node.is_alias()) all.push_back(&node);
  }
  if (all.empty()) fail("--from {}: there are no attention weights here. Leave it out", word);
  const auto has_it = [&](const Node* weights) {
    return has_named_place(weights->frame.rows, weights->frame.shape.rows, word);
  };
  const auto found = std::ranges::find_if(all, has_it);
  const Node& weights = found == all.end() ? *all.front() : **found;
  OpeningQuestion question{.before = "", .after = "", .weights = &weights};
  question.query = find_named_place(weights.frame.rows, weights.frame.shape.rows, word, fmt::format("--from {}", word));
  tell_weights(question);
  return question;
}

// What is asked, and the answer as numbers give it: the keys with the most weight.
std::string asked(const OpeningQuestion& question) {
  if (!question.weights) return question.before;
  return question.before + place_in_words(question.weights->frame.rows, question.query, "query", "“", "”") +
         question.after;
}

std::string answered(const OpeningQuestion& question) {
  if (!question.weights) return "";
  const Axis &rows = question.weights->frame.rows, &columns = question.weights->frame.columns;
  const std::vector<double> weights = question.weights->row(question.query);
  std::vector<std::size_t> keys(weights.size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  std::erase_if(keys, [&](std::size_t j) { return !(weights[j] > 0.0); });
  std::ranges::stable_sort(keys, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  const std::string query = place_in_words(rows, question.query, "Query", "“", "”");
  const std::string where = fmt::format("This is its row in the table {}.", question.weights->name);
  if (std::ranges::any_of(weights, [](double weight) { return std::isnan(weight); }))
    return fmt::format("{} has weights that are no numbers, in the table {}.", query, question.weights->name);
  constexpr double most = 1.0 + 1e-9;
  if (std::ranges::any_of(weights, [&](double weight) { return weight < 0.0 || weight > most; }))
    return fmt::format("{} has weights outside 0 to 1, in the table {}.", query, question.weights->name);
  if (keys.empty()) return fmt::format("{} attends to no key: all its weights are 0. {}", query, where);
  const auto shown = [&](std::size_t j) { return written_fixed(100.0 * weights[j], 0); };
  // Keys with the same number are told together or not at all.
  constexpr std::size_t most_told = 3;
  std::vector<std::size_t> rest;
  const auto stands_alone = [&](std::size_t j) {
    const bool ties = keys.size() > most_told && shown(j) == shown(keys[most_told]);
    return !ties && (j == keys.front() || shown(j) != "0");
  };
  const auto few = static_cast<std::ptrdiff_t>(std::min(keys.size(), most_told));
  const auto end = std::find_if_not(keys.begin(), keys.begin() + few, stands_alone);
  rest.assign(end, keys.end());
  keys.erase(end, keys.end());
  const std::string next = rest.empty() ? "" : shown(rest.front());
  const auto alike =
      static_cast<std::size_t>(std::ranges::count_if(rest, [&](std::size_t j) { return shown(j) == next; }));
  if (keys.empty()) {
    return fmt::format("{} attends most to {} keys, with {}\u00A0% each.{} {}", query, alike,
                       next == "0" ? "less than 1" : next, alike < rest.size() ? " All other keys have less." : "",
                       where);
  }
  std::vector<std::string> told;
  for (const std::size_t j : keys)
    told.push_back(fmt::format("{} ({}\u00A0%)", place_in_words(columns, j, "key", "“", "”"), shown(j)));
  const bool is_told = alike > 1 && alike == rest.size() && next != "0";
  std::string others;
  if (is_told) others = fmt::format(" Each of the other {} has {}\u00A0%.", alike, next);
  if (!is_told && !rest.empty()) others = " No other key has a larger weight.";
  return fmt::format("{} attends to {}.{} {}", query, list_in_words(told), others, where);
}

// --- what stands on the page

void collect(const Table& table, std::set<std::string>& shown) { shown.insert(table.array); }

bool fits_as_table(Shape shape) {
  return shape.cells() <= most_cells_of_table && shape.columns <= most_columns_of_table;
}

// What is said in the place of a table that is too large.
Prose instead_of_table(const Table& table) {
  return {text(code(table.array.empty() ? table.title : table.array),
               fmt::format(" is {}: too large for a table on this page, which computes with its numbers all the same.",
                           to_string(table.cells->shape())))};
}

// The blocks with sentences in the place of tables that are too large.
std::vector<Block> without_large_tables(const std::vector<Block>& blocks) {
  std::vector<Block> shown;
  for (const Block& block : blocks) {
    const Table* const table = std::get_if<Table>(&block);
    const SideBySide* const group = std::get_if<SideBySide>(&block);
    if (table && !fits_as_table(table->cells->shape())) {
      shown.emplace_back(instead_of_table(*table));
    } else if (group) {
      SideBySide rest;
      for (const Table& one : group->tables) {
        if (fits_as_table(one.cells->shape())) {
          rest.tables.push_back(one);
        } else {
          shown.emplace_back(instead_of_table(one));
        }
      }
      if (!rest.tables.empty()) shown.emplace_back(std::move(rest));
    } else {
      shown.push_back(block);
    }
  }
  return shown;
}

// The matrices of which the blocks have tables.
std::set<std::string> matrices_shown(const std::vector<Block>& blocks) {
  std::set<std::string> shown;
  for (const Table& table : tables_of(blocks)) collect(table, shown);
  return shown;
}

// The matrices that have no table yet: what is computed with its formula, inputs beside each other.
void add_rest(Page& page, const Graph& graph) {
  const std::set<std::string> shown = matrices_shown(page.blocks);
  std::vector<const Node*> rest;
  for (const Node* node : graph.named()) {
    if (!node->is_alias() && !shown.contains(node->name)) rest.push_back(node);
  }
  for (const std::vector<const Node*>& group : by_scope(rest)) {
    const Node& first = *group.front();
    page.head(2, first.scope().empty() ? "More matrices" : std::string(first.scope_name()));
    SideBySide inputs;
    for (const Node* node : group) {
      if (node->op) {
        add_results(page, {node}, first.scope());
      } else {
        inputs.tables.push_back(table_of(*node));
        inputs.tables.back().title = node->name_within(first.scope());
      }
    }
    if (!inputs.tables.empty()) page.say(std::move(inputs));
  }
}

// What the script of a page reads.
struct DataOfPage {
  int precision;
  OpeningQuestion question;
  const ComputationInBrowser& about;
};

class BrowserPage {
 public:
  BrowserPage(const Page& page, const ComputationInBrowser& about, const Style& style)
      : page_(page),
        about_(about),
        graph_(about.graph),
        style_(style),
        question_(about.word ? question_about(*about.word, about.graph) : opening_question(about.graph)) {
    add_rest(page_, graph_);
    page_.blocks = without_large_tables(page_.blocks);
  }

  void write(Sink& sink) {
    const std::string rules = std::string(browser_style()) + std::string(page_style());
    write_document({.title = asked(question_),
                    .script = script_of_operations(operations_of(graph_)) + std::string(page_script()),
                    .rules = rules,
                    .content = in_text([this](Sink& content) { write_content(content); }),
                    .data = in_json([this](JsonWriter& json) {
                      write_value(DataOfPage{style_.precision, question_, about_}, graph_, json);
                    })},
                   sink);
  }

 private:
  void write_content(Sink& sink) {
    write_question(sink);
    sink.write(browser_bands());
    write_text(sink);
    sink.write(browser_explanation());
  }

  void write_question(Sink& sink) {
    sink.write(fmt::format("<header id=\"top\">\n<h1 id=\"question\">{}</h1>\n", in_markup(asked(question_))));
    if (!about_.random.empty()) sink.write(fmt::format("<p class=\"random\">{}</p>\n", in_markup(about_.random)));
    if (question_.weights) {
      sink.write(fmt::format("<p id=\"answer\" aria-live=\"polite\">{}</p>\n<p class=\"axes\">{} {}</p>\n",
                             in_markup(answered(question_)), in_markup(question_.rows), in_markup(question_.columns)));
    }
    sink.write("</header>\n");
  }

  // A section for each heading of the second level, and a table of contents. The title of the page becomes one of them.
  void write_text(Sink& sink) {
    std::string contents, sections;
    Sink text([&](std::string_view bytes) { sections += bytes; });
    const std::unique_ptr<Writer> writer = html_writer(style_, text);
    std::vector<Block> section;
    std::size_t count = 0;
    const auto finish = [&] {
      if (section.empty()) return;
      const Heading* const heading = std::get_if<Heading>(&section.front());
      if (heading)
        contents += fmt::format("<li><a href=\"#step-{}\">{}</a></li>\n", count, in_markup(words_of(heading->text)));
      text.write(fmt::format("<section class=\"step\" id=\"step-{}\">\n", count++));
      writer->write(section);
      text.write("</section>\n");
      section.clear();
    };
    for (Block& block : page_.blocks) {
      if (Heading* const heading = std::get_if<Heading>(&block)) {
        heading->level = std::max(heading->level, 2);
        if (heading->level == 2) finish();
      }
      section.push_back(std::move(block));
    }
    finish();
    text.flush();
    sink.write(fmt::format(
        "<div id=\"text\">\n<nav id=\"contents\" aria-label=\"Contents\">\n<ol>\n{}</ol>\n</nav>\n{}</div>\n", contents,
        sections));
  }

  Page page_;
  const ComputationInBrowser& about_;
  const Graph& graph_;
  const Style& style_;
  OpeningQuestion question_;
};

}  // namespace

template <>
constexpr auto objects_in<Graph> = std::tuple(
    object<OpeningQuestion>(
        Field{"before", &OpeningQuestion::before}, Field{"after", &OpeningQuestion::after},
        Field{"weights", [](const OpeningQuestion& one) { return one.weights ? &one.weights->index : nullptr; }},
        Field{"query", [](const OpeningQuestion& one) { return one.weights ? &one.query : nullptr; }}),
    object<DataOfPage>(
        Field{"precision", &DataOfPage::precision}, Field{"question", &DataOfPage::question},
        Field{"title", [](const DataOfPage& data) { return &data.about.made_by.command; }},
        Field{"line", [](const DataOfPage& data) { return &data.about.made_by.line; }},
        Field{"scale", [](const DataOfPage& data) { return &data.about.made_by.scale; }},
        Field{"takes_changes", [](const DataOfPage& data) { return data.about.made_by.takes_changes; }},
        Field{"sentences",
              [](const DataOfPage& data) { return written_sentences(data.about.story, data.about.graph); }},
        Field{"given", [](const DataOfPage& data) { return data.about.story.given; }},
        Field{"predictions", [](const DataOfPage& data) { return written_predictions(data.about.graph); }},
        Field{"training", [](const DataOfPage& data) { return written_training(data.about.story, data.about.graph); }},
        Field{"computation", [](const DataOfPage& data) {
                return [&about = data.about](JsonWriter& json) { write_computation(about.graph, json, about.drawn); };
              }}));

void require_room_in_browser(const Graph& graph) {
  std::size_t shown = 0;
  for (const Node& node : graph.nodes()) {
    if (!node.name.empty() && fits_as_table(node.frame.shape)) shown += node.frame.shape.cells();
  }
  const std::size_t count = numbers_written(graph);
  const auto require = [](std::size_t has, std::size_t most, std::string_view what) {
    if (has <= most) return;
    fail(
        "this computation has {} {}, and a page for browsers holds at most {}: give fewer words, heads or layers, or smaller sizes",
        with_commas(has), what, with_commas(most));
  };
  require(count, most_numbers_in_browser, "numbers");
  require(shown, most_cells_in_browser, "cells in tables");
}

void require_query(const std::string& word, const Graph& graph) { question_about(word, graph); }

void write_browser_page(const Page& page, const ComputationInBrowser& about, const Style& style, Sink& sink) {
  BrowserPage(page, about, style).write(sink);
}

}  // namespace attn
