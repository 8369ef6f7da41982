#include "command/errata/errata.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "command/docs.hpp"
#include "core/math/difference.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/document/document_outputs.hpp"
#include "page/document/text_slots.hpp"
#include "school/lesson/show.hpp"

namespace attn {

// --- errata

namespace {

struct Key {
  std::string_view name;
  bool repeats;
  void (*set)(Erratum& erratum, const Entry& entry);
};

constexpr std::array keys_of_errata = {
    Key{"where", false, [](Erratum& erratum, const Entry& entry) { erratum.where = entry.value; }},
    Key{"what", false, [](Erratum& erratum, const Entry& entry) { erratum.what = entry.value; }},
    Key{"more", false, [](Erratum& erratum, const Entry& entry) { erratum.more = entry.value; }},
};

// "E6" of "lessons/errata/06-root-of-length.md".
std::string name_of_erratum(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const std::string_view number = std::string_view(stem).substr(0, stem.find_first_not_of("0123456789"));
  return fmt::format("E{}", number.substr(std::min(number.find_first_not_of('0'), number.size())));
}

Page list_of_errata() {
  Page page;
  page.head(1, "Where published texts err or disagree");
  page.say(
      "The texts: a summary of Dive into Deep Learning (Zhang et al.), chapter 11; an illustrated self-attention; notes on the paper \"Attention Is All You Need\"; a post on cross-attention; lecture notes.");
  Listing listing{{"", "where", "what"}, {}};
  for (const Erratum& erratum : errata()) listing.rows.push_back({erratum.name, erratum.where, erratum.what});
  page.say(std::move(listing));
  page.say(text("The numbers E11 and E14 are not used. To see one with its numbers: ", code("attn errata E6"), "."));
  return page;
}

// Makes the page of an erratum, leaf by leaf. A text may name what is computed only below it.
class ErratumPage {
 public:
  explicit ErratumPage(const Erratum& erratum) : erratum_(erratum) {}

  Answer make() {
    page_.head(1, fmt::format("{} ({}): {}", erratum_.name, erratum_.where, erratum_.what));
    for (const MarkdownLeaf& leaf : erratum_.document.leaves)
      at_place(erratum_.document.at(leaf.first_line), [&] { add(leaf); });
    for (const ToFill& text : to_fill_)
      at_place(erratum_.document.at(text.line), [&] { fill(std::get<Prose>(page_.blocks[text.block]).text); });
    if (!erratum_.more.empty()) page_.say(text("See also ", code(erratum_.more), "."));
    return {.page = std::move(page_), .computation = {graph_}};
  }

 private:
  // A text with braces, by its place in the page and in the document.
  struct ToFill {
    std::size_t block, line;
  };

  void add(const MarkdownLeaf& leaf) {
    const bool is_comment = leaf.kind == MarkdownLeaf::Kind::html;  // such as those around an output
    if (is_comment || leaf.first_line < erratum_.document.first_line || is_output(erratum_.document, leaf.first_line))
      return;
    if (leaf.kind == MarkdownLeaf::Kind::paragraph) {
      for (const Text& words : leaf.words) {
        to_fill_.push_back({page_.blocks.size(), leaf.first_line});
        page_.say(words);
      }
    } else if (leaf.kind == MarkdownLeaf::Kind::fence && leaf.info == "demonstration") {
      for (const std::string& name : split_at_any(leaf.text, "\r\n"))
        look_up(demonstrations(), name, "demonstration").show(page_, *graph_);
    } else if (const auto block = std::ranges::find(erratum_.document.commands, leaf.first_line,
                                                    [](const CommandBlock& one) { return one.fence.first_line; });
               block != erratum_.document.commands.end()) {
      run(*block);
    } else {
      fail("an erratum has paragraphs, blocks of attn and blocks of demonstration: leave out what else there is");
    }
  }

  void run(const CommandBlock& block) {
    for (const CommandLine& line : block.lines) {
      const CommandResult result = block_runner()(line.words, block.attributes.style);
      if (!block.attributes.hidden) {
        page_.say(CodeBlock{"console", "$ " + line.text});
        page_.say(output_of(result));
      }
      if (!result.computation.graph) continue;
      // The matrices of a page are those of one computation, because names are unique in one only: here of the last.
      graph_ = result.computation.graph;
      page_.trace = {};
      for (const Table& table : tables_of(result.page->blocks)) {
        if (const Node* const node = graph_->find(table.title)) page_.trace.add(*node);
      }
    }
  }

  void fill(Text& words) const {
    for (Span& span : words)
      span.text = filled_in(span.text, [this](const TextSlot& braces) { return written_item(braces); });
  }

  std::string written_item(const TextSlot& braces) const {
    constexpr std::string_view difference = "difference(";
    if (braces.item.starts_with(difference) && braces.item.ends_with(')')) {
      const std::vector<std::string> names =
          split_at_any(braces.item.substr(difference.size(), braces.item.size() - difference.size() - 1), ", ");
      if (names.size() != 2) fail("'{}': write two names of matrices, with a comma between them", braces.item);
      return written_difference(
          largest_difference(Value(graph_->at(names[0])).matrix(), Value(graph_->at(names[1])).matrix()));
    }
    const Quantity found = look_up_quantity(braces.item, graph_.get()).quantity;
    const double* const number = std::get_if<double>(&found);
    return number ? written_number(*number, braces.decimals) : written(found);
  }

  const Erratum& erratum_;
  Page page_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::vector<ToFill> to_fill_;
};

}  // namespace

Erratum read_erratum(std::string_view text, const std::string& path) {
  Erratum erratum{name_of_erratum(path), "", "", "", read_document(text, path)};
  set_by_keys(std::span<const Key>(keys_of_errata), "key of an erratum", erratum.document.front_matter, path, erratum);
  if (erratum.where.empty() || erratum.what.empty())
    fail_at(erratum.document.at(1), "an erratum begins with ---, where: …, what: …, ---");
  return erratum;
}

std::vector<Erratum> errata() {
  std::vector<Erratum> all;
  for (const ErratumFile& file : erratum_files()) all.push_back(read_erratum(file.text, std::string(file.path)));
  return all;
}

Answer erratum_page(const Erratum& erratum) { return ErratumPage(erratum).make(); }

std::vector<OptionChoice> choices::errata() {
  static const std::vector<Erratum> all = attn::errata();
  std::vector<OptionChoice> names;
  for (const Erratum& erratum : all) names.push_back({erratum.name, erratum.what});
  return names;
}

Answer run_errata(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {list_of_errata()};
  const std::string& name = arguments.words.front();
  const std::vector<Erratum> all = errata();
  if (const Erratum* const found = find_row(std::span<const Erratum>(all), name)) return erratum_page(*found);
  fail("there is no {} (the numbers E11 and E14 are not used). Choose one of: {}", name,
       fmt::join(names_of(std::span<const Erratum>(all)), ", "));
}

}  // namespace attn
