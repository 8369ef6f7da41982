#include "browser/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "browser/computation.hpp"
#include "browser/document.hpp"
#include "browser/files.hpp"
#include "browser/question.hpp"
#include "render/html.hpp"
#include "render/markup.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// --- what stands on the page

void collect(const Table& table, std::set<std::string>& shown) {
  shown.insert(table.array);
}

bool fits_as_table(Shape shape) {
  return shape.cells() <= most_cells_of_table;
}

// What is said in the place of a table that is too large.
Prose instead_of(const Table& table) {
  return {text(
      code(table.array.empty() ? table.title : table.array),
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
      shown.emplace_back(instead_of(*table));
    } else if (group) {
      SideBySide rest;
      for (const Table& one : group->tables) {
        if (fits_as_table(one.cells->shape())) {
          rest.tables.push_back(one);
        } else {
          shown.emplace_back(instead_of(one));
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
std::set<std::string> shown_in(const std::vector<Block>& blocks) {
  std::set<std::string> shown;
  for (const Table& table : tables_of(blocks)) collect(table, shown);
  return shown;
}

// The matrices that have no table yet: what is computed with its formula, inputs beside each other.
void add_rest(Page& page, const Graph& graph) {
  const std::set<std::string> shown = shown_in(page.blocks);
  std::vector<const Node*> rest;
  for (const Node* node : graph.named()) {
    if (!node->is_alias() && !shown.contains(node->name)) rest.push_back(node);
  }
  for (const std::vector<const Node*>& group : by_scope(rest)) {
    const Node& first = *group.front();
    page.head(2, first.scope().empty() ? "More matrices" : std::string(first.scope_name()));
    SideBySide inputs;
    for (const Node* node : group) {
      if (node->operation) {
        add_results(page, {node}, first.scope());
      } else {
        inputs.tables.push_back(table_of(*node));
        inputs.tables.back().title = node->name_within(first.scope());
      }
    }
    if (!inputs.tables.empty()) page.say(std::move(inputs));
  }
}

class BrowserPage {
 public:
  BrowserPage(const Page& page, const Graph& graph, const Style& style)
      : page_(page), graph_(graph), style_(style), question_(question_of(graph)) {
    add_rest(page_, graph_);
    page_.blocks = without_large_tables(page_.blocks);
  }

  void write(Sink& sink) {
    write_document({.title = asked(question_),
                    .script = page_script(),
                    .rules = browser_style(),
                    .content = in_text([this](Sink& content) { write_content(content); }),
                    .data = in_json([this](JsonWriter& json) { write_data(json); })},
                   sink);
  }

 private:
  void write_content(Sink& sink) {
    write_question(sink);
    sink.write(browser_controls());
    write_sections(sink);
    sink.write(browser_explanation());
  }

  void write_question(Sink& sink) {
    sink.write(fmt::format("<h1 id=\"question\">{}</h1>\n", in_markup(asked(question_))));
    if (!question_.weights) return;
    sink.write(fmt::format("<p id=\"answer\" aria-live=\"polite\">{}</p>\n<p>{} {}</p>\n",
                           in_markup(answered(question_)), in_markup(question_.rows),
                           in_markup(question_.columns)));
  }

  // A section for each heading of the second level. The title of the page becomes one of them.
  void write_sections(Sink& sink) {
    const std::unique_ptr<Writer> writer = html_writer(style_, sink);
    std::vector<Block> section;
    const auto finish = [&] {
      if (section.empty()) return;
      sink.write("<section class=\"step\">\n");
      writer->write(section);
      sink.write("</section>\n");
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
  }

  void write_data(JsonWriter& json) const {
    json.begin_object();
    json.key("precision");
    json.integer(static_cast<std::uint64_t>(style_.precision));
    json.key("question");
    json.begin_object();
    json.key("before");
    json.string(question_.before);
    json.key("after");
    json.string(question_.after);
    if (question_.weights) {
      json.key("weights");
      json.integer(question_.weights->index);
      json.key("query");
      json.integer(question_.query);
    }
    json.end_object();
    json.key("computation");
    write_computation(graph_, json);
    json.end_object();
  }

  Page page_;
  const Graph& graph_;
  const Style& style_;
  OpeningQuestion question_;
};

}  // namespace

void require_room_in_browser(const Graph& graph) {
  std::size_t shown = 0;
  for (const Node& node : graph.nodes()) {
    if (!node.name.empty() && fits_as_table(node.frame.shape)) shown += node.frame.shape.cells();
  }
  const std::size_t count = numbers_written(graph);
  const auto require = [](std::size_t has, std::size_t most, std::string_view what) {
    if (has <= most) return;
    fail(
        "this computation has {} {}, and a page for browsers holds at most {}: give fewer words, heads or "
        "layers, or smaller sizes",
        with_commas(has), what, with_commas(most));
  };
  require(count, most_numbers_in_browser, "numbers");
  require(shown, most_cells_in_browser, "cells in tables");
}

void write_browser_page(const Page& page, const Graph& graph, const Style& style, Sink& sink) {
  BrowserPage(page, graph, style).write(sink);
}

}  // namespace attn
