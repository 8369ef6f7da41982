#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apart/annex.hpp"
#include "apart/apart_options.hpp"
#include "apart/change/alteration.hpp"
#include "apart/change/changed_matrix.hpp"
#include "apart/what_if/altered_computation.hpp"
#include "apart/what_if/head_ablation.hpp"
#include "apart/what_if/held_out.hpp"
#include "command/command.hpp"
#include "command/model_rerun.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/lens_tables.hpp"

namespace attn {

// --- the computation as it is

namespace {

// The command line without what is changed.
Arguments as_it_is(const Arguments& arguments) {
  Arguments rest = arguments;
  std::vector<const Option*> changes = {&option::what_if, &option::only};
  for (const OfferedOption& row : what_if_options().options) changes.push_back(row.option);
  if (arguments.has(option::each_head)) changes.push_back(&option::of);
  rest.leave_out(changes);
  return rest;
}

// The words that a model writes, until it ends, or a logit is NaN.
struct WrittenWords {
  std::vector<std::size_t> ids = {};
  bool ends_in_nan = false;
};

// What it writes where everything is altered so.
WrittenWords written_with(const WordWriter& writer, std::span<const Alteration> alterations) {
  WrittenWords written;
  while (written.ids.size() < writer.most) {
    const std::shared_ptr<Graph> graph = writer.run(written.ids);
    const Node& logits = *result_of(*graph);
    Rewriting again(*graph, combined_change(*graph, alterations));
    const Value remade = again.of(logits);
    const Matrix& numbers = remade.matrix();
    const std::optional<std::size_t> next = most_probable_id(row(numbers, numbers.shape().rows - 1));
    written.ends_in_nan = !next;
    if (!next) break;
    written.ids.push_back(*next);
    if (writer.ends(*next)) break;
  }
  return written;
}

// What a command computes; of a model that writes, the computation of all that it writes.
struct ComputedCommand {
  Answer answer;
  std::shared_ptr<Graph> graph;
  std::vector<std::size_t> written = {};

  // Null: it writes no words.
  const WordWriter* writer() const { return answer.attachments.find<WordWriter>(); }
};

ComputedCommand computed(const Command& command, const Arguments& arguments) {
  ComputedCommand all{command.run(command, arguments), nullptr};
  all.graph = all.answer.computation.graph;
  if (!all.graph) fail("attn {} shows no matrices here: there is nothing to change", command.name);
  if (const WordWriter* const writer = all.writer()) {
    all.written = written_with(*writer, {}).ids;
    if (all.written.empty()) fail("attn {} writes nothing here: there is nothing to change", command.name);
    const std::span<const std::size_t> went_in(all.written.data(), all.written.size() - 1);
    all.graph = writer->run({went_in.begin(), went_in.end()});
  }
  if (!result_of(*all.graph)) fail("attn {} computes nothing here: there is nothing to change", command.name);
  return all;
}

// --- the changes

Arguments on_another_sentence(const Command& command, Arguments arguments, const std::string& sentence) {
  const Option& words = arguments.has(option::source) ? option::source : option::text;
  const std::vector<OfferedOption> offered = options_of(command);
  const auto row = std::ranges::find(offered, &words, &OfferedOption::option);
  if (row == offered.end())
    fail("--patch-text: attn {} takes no other sentence. Give --patch-file instead", command.name);
  arguments.leave_out(std::array{&words});
  arguments.put_text(*row, {sentence});
  arguments.read();
  return arguments;
}

// What is changed, and what is random in the numbers that come from elsewhere.
struct Alterations {
  std::vector<Alteration> all = {};
  std::string random = {};
};

void add_patches(Alterations& alterations, const Graph& graph, const Command& command, const Arguments& arguments) {
  if (!arguments.has(option::patch)) return;
  const std::optional<std::string> file = arguments.text(option::patch_file);
  const std::string source =
      file ? place_of_file(*file) : fmt::format("the sentence '{}'", *arguments.text(option::patch_text));
  std::function<std::shared_ptr<const Matrix>(const std::string& name)> numbers;
  if (file) {
    numbers = [trace = read_trace(*file).trace](const std::string& name) {
      const TracedMatrix* const found = trace.find(name);
      return found ? found->cells() : nullptr;
    };
  } else {
    const std::string sentence = *arguments.text(option::patch_text);
    const ComputedCommand elsewhere = computed(command, on_another_sentence(command, as_it_is(arguments), sentence));
    alterations.random = what_is_random(elsewhere.answer.computation);
    numbers = [other = elsewhere.graph](const std::string& name) {
      const Node* const found = other->find(name);
      return found ? found->cells() : nullptr;
    };
  }
  for (const std::string& asked : arguments.texts(option::patch)) {
    const std::string name = only_match(graph, asked, "--patch").name;
    const std::shared_ptr<const Matrix> found = numbers(name);
    if (!found) fail("--patch {}: there is no such matrix in {}", name, source);
    alterations.all.push_back(activation_patch(graph, name, *found, source));
  }
}

// All numbers are worked out in the computation as it is, so that none can follow another one in its cell.
void add_settings(std::vector<Alteration>& all, const Graph& graph, const std::vector<std::string>& texts) {
  std::vector<Cell> set;
  for (const std::string& settings : texts) {
    for (const std::string_view piece : split_at(settings, ';')) {
      const std::string_view setting = trimmed(piece);
      if (setting.empty()) continue;
      const Cell cell = cell_that_is_set(graph, setting);
      const auto is_same = [&](const Cell& one) {
        return one.node == cell.node && one.row == cell.row && one.column == cell.column;
      };
      if (std::ranges::any_of(set, is_same))
        fail("--set '{}': {} is set already. Set each cell once", setting, address_of(cell));
      set.push_back(cell);
      all.push_back(set_number(graph, setting));
    }
  }
}

Alterations alterations_in(const Graph& graph, const Command& command, const Arguments& arguments) {
  Alterations alterations;
  std::vector<Alteration>& all = alterations.all;
  if (arguments.has(option::without)) {
    for (const std::string& part : arguments.texts(option::without)) all.push_back(ablation_of(graph, part));
  }
  add_patches(alterations, graph, command, arguments);
  if (const std::optional<std::string> words = arguments.text(option::swap))
    all.push_back(swapped_words(graph, *words));
  if (arguments.has(option::set)) add_settings(all, graph, arguments.texts(option::set));
  if (all.empty()) fail("--set is empty: write a cell, = and a number, such as 'k[2,1] = 3'");
  return alterations;
}

// --- what came of it

bool has_nan(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double number) { return std::isnan(number); });
}

void add_words(Page& page, const Node& before, const Node& now) {
  Listing listing{{"after", "most probable was", "is now"}, {}, true};
  for (std::size_t i = 0; i < before.frame.shape.rows; ++i) {
    const auto most = [&](const Node& node) {
      const std::span<const double> probabilities = row(node.matrix(), i);
      return has_nan(probabilities) ? "NaN" : most_probable_words(probabilities, before.frame.columns, 2);
    };
    listing.rows.push_back({before.frame.rows.label(i), most(before), most(now)});
  }
  page.say(std::move(listing));
  if (has_nan(cells(now.matrix())))
    page.say("NaN: the probabilities are no numbers, and so no word is the most probable one.");
}

// The numbers of another computation, with the frame of the one that they are compared with.
Table table_with(const Node& frame, std::string title, Matrix numbers, Heat heat) {
  return {.title = std::move(title),
          .rows = frame.frame.rows,
          .columns = frame.frame.columns,
          .cells = std::make_shared<const Matrix>(std::move(numbers)),
          .heat = heat};
}

void add_tables(Page& page, const Node& before, const Node& now) {
  page.say(SideBySide{
      {table_with(before, "before", before.matrix(), Heat::none), table_with(before, "now", now.matrix(), Heat::none),
       table_with(before, "difference", cell_changes(before.matrix(), now.matrix()), Heat::around_zero)}});
}

void add_result(Page& page, const Node& result, const Node* distribution, Rewriting& again) {
  page.head(2, fmt::format("The result: {}", result.name));
  const Value remade = again.of(result);
  const Node& now = remade.node();
  const Difference moved = difference(result.matrix(), now.matrix());
  if (moved.agrees()) {
    page.say(fmt::format("{} is unchanged, to the last bit.", result.name));
    return;
  }
  if (moved.is_small()) page.say(fmt::format("No number of {} changes by 1e-9 or more.", result.name));
  if (distribution) return add_words(page, *distribution, again.of(*distribution).node());
  add_tables(page, result, now);
}

// "a and b", or how many they are where these are too many names.
std::string listed_results(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  return names.size() <= most ? list_in_words(names) : fmt::format("{} of them", names.size());
}

// Each sentence has its own result, and each step of a decoder: which of them change, and the first of these.
void add_changed_results(Page& page, const Graph& graph, Rewriting& again) {
  constexpr std::size_t most = 3;
  const std::vector<const Node*> results = results_of(graph);
  if (results.size() == 1) {
    const Node& result = *results.front();
    return add_result(page, result, result.is(role::logits) ? distribution_of(graph) : nullptr, again);
  }
  std::vector<const Node*> changed;
  std::vector<std::string> names_changed, unchanged;
  for (const Node* result : results) {
    const bool changes = !difference(result->matrix(), again.of(*result).node().matrix()).agrees();
    if (changes) changed.push_back(result);
    (changes ? names_changed : unchanged).push_back(result->name);
  }
  page.head(2, fmt::format("The {} results", results.size()));
  if (changed.empty())
    return page.say("All of them are unchanged, to the last bit: " + listed_results(unchanged) + ".");
  page.say(fmt::format("Changed: {}.", listed_results(names_changed)));
  if (!unchanged.empty()) page.say(fmt::format("Unchanged, to the last bit: {}.", listed_results(unchanged)));
  if (changed.size() > most) page.say(fmt::format("The first {} that change are shown.", most));
  for (const Node* result : std::span(changed).first(std::min(most, changed.size())))
    add_result(page, *result, result->is(role::logits) ? result->beside(role::distribution) : nullptr, again);
}

void add_losses(Page& page, const RightWords& right, Rewriting& again) {
  for (const Prediction& prediction : right.predictions) {
    const double before = mean_cross_entropy(prediction.logits->matrix(), prediction.ids),
                 now = mean_cross_entropy(again.of(*prediction.logits).node().matrix(), prediction.ids);
    const auto [was, is_now] = written_apart(before, now);
    page.say(fmt::format("The loss, the mean cross-entropy of the right words, was {} and is {}.", was,
                         std::isnan(now) ? "no number now: NaN" : "now " + is_now));
  }
}

void add_writing(Page& page, const ComputedCommand& computed, std::span<const Alteration> alterations) {
  const WordWriter& writer = *computed.writer();
  const WrittenWords now = written_with(writer, alterations);
  page.head(2, "What it writes");
  page.say(text("Before: ", strong(writer.told(computed.written))));
  page.say(text("Now: ", strong(now.ids.empty() ? "nothing" : writer.told(now.ids))));
  if (now.ends_in_nan)
    page.say("The next logits are no numbers (NaN): no word is the most probable one, and it stops.");
  if (now.ids == computed.written) page.say("These are the same words.");
  const auto is_cut = [&](const std::vector<std::size_t>& ids) {
    return ids.size() == writer.most && !writer.ends(ids.back());
  };
  const bool before_is_cut = is_cut(computed.written), now_is_cut = !now.ends_in_nan && is_cut(now.ids);
  if (before_is_cut || now_is_cut)
    page.say(fmt::format("{} ended by the limit of {} (--steps), and not by the model.",
                         before_is_cut && now_is_cut ? "Both texts are"
                         : now_is_cut                ? "The text that it writes now is"
                                                     : "The text before the change is",
                         count_of(writer.most, "word")));
  page.say("The tables below are of the words that are given, and of those that were written before the change.");
}

// Each matrix once, whatever other names it has.
std::vector<const Node*> asked_matrices(const Graph& graph, const Arguments& arguments) {
  const std::optional<std::string> only = arguments.only();
  std::vector<const Node*> all;
  for (const Node* node : only ? graph.matching(*only) : graph.named()) {
    const auto is_same = [&](const Node* one) { return &one->original() == &node->original(); };
    const auto same = std::ranges::find_if(all, is_same);
    if (node->family != &family::forward) continue;
    if (same == all.end()) {
      all.push_back(node);
    } else if (!node->is_alias()) {
      *same = node;
    }
  }
  return all;
}

void add_moved(Page& page, const std::vector<ChangedMatrix>& all, std::size_t named, bool are_chosen) {
  constexpr std::size_t most = 12;
  std::vector<const ChangedMatrix*> moved;
  std::size_t small = 0, unchanged = 0;
  Records records{"moved", {"matrix", "cells", "of", "largest", "place", "before", "after"}, {}};
  for (const ChangedMatrix& one : all) {
    unchanged += one.moved.agrees() ? 1u : 0u;
    small += !one.moved.agrees() && one.moved.is_small() ? 1u : 0u;
    if (one.moved.agrees()) continue;
    records.rows.push_back({one.node->name, static_cast<std::uint64_t>(one.moved.cells),
                            static_cast<std::uint64_t>(one.node->frame.shape.cells()), one.moved.change, one.place(),
                            one.before(), one.after()});
    if (!one.moved.is_small()) moved.push_back(&one);
  }
  page.head(2, "What changed most");
  if (moved.empty()) {
    page.say(fmt::format("No number {}changes{}.", are_chosen ? "of the chosen matrices " : "",
                         small == 0 ? "" : " by 1e-9 or more"));
  } else {
    const ChangedMatrix& first = *moved.front();
    const auto [was, is_now] = written_apart(first.before(), first.after());
    page.say(text(fmt::format("The first {} that changes{} is ", are_chosen ? "of the chosen matrices" : "matrix",
                              small == 0 ? "" : " by 1e-9 or more"),
                  code(first.node->name), ": ", code(first.place()), " was ", was, " and is now ", is_now, "."));
    std::ranges::stable_sort(moved, std::ranges::greater(),
                             [](const ChangedMatrix* one) { return one->moved.largest; });
    Listing listing{{"matrix", "cells", "largest change", "cell", "was", "is now"}, {}, true};
    for (const ChangedMatrix* one : std::span(moved).first(std::min(most, moved.size()))) {
      auto [before, after] = written_apart(one->before(), one->after());
      listing.rows.push_back(
          {one->node->name, fmt::format("{} of {}", one->moved.cells, one->node->frame.shape.cells()),
           written_value(one->moved.change), place_in_brackets({one->node, one->moved.row, one->moved.column}),
           std::move(before), std::move(after)});
    }
    page.say(std::move(listing));
    if (moved.size() > most)
      page.say(fmt::format("{} that change by no more than these are left out here; --only PATTERN chooses.",
                           count_of(moved.size() - most, "matrix", "matrices")));
  }
  const std::size_t same = named - std::min(named, all.size()) + unchanged;
  if (small > 0) page.say(fmt::format("{:One matrix changes|# matrices change} by less than 1e-9.", Count{small}));
  if (same > 0) page.say(fmt::format("{:One matrix is|# matrices are} unchanged, to the last bit.", Count{same}));
  page.say(std::move(records));
}

// Numbers that are too large for the computation, where it has none by itself.
std::vector<std::string> overflows(const std::vector<ChangedMatrix>& all) {
  const auto is_wrong = [](double number) { return !std::isfinite(number); };
  for (const ChangedMatrix& one : all) {
    if (one.node->may_be_masked() || std::ranges::any_of(cells(one.node->matrix()), is_wrong)) continue;
    if (std::ranges::any_of(cells(one.now->matrix()), is_wrong))
      return {fmt::format("{} has numbers that are not finite now. The results behind it are worth nothing",
                          one.node->name)};
  }
  return {};
}

}  // namespace

// Without the name of another command, what is changed is a walk.
Answer run_what_if(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

Answer what_if(const Command& command, const Arguments& arguments) {
  if (command.shown_as == &option::what_if) refuse_other_word(command, arguments);
  ComputedCommand computed = attn::computed(command, as_it_is(arguments));
  if (arguments.has(option::each_head))
    return head_ablation_page(computed.graph, std::move(computed.answer), arguments);
  const Graph& graph = *computed.graph;
  const auto [alterations, random_elsewhere] = alterations_in(graph, command, arguments);
  Rewriting again(graph, combined_change(graph, alterations));
  for (const Node* node : graph.named()) again.of(*node);  // all have their names there, in their order
  const std::vector<const Node*> wanted = asked_matrices(graph, arguments);
  const std::vector<ChangedMatrix> moved = changed_matrices(wanted, again);
  Page page;
  page.head(1, "What if");
  for (const Alteration& alteration : alterations) page.say(alteration.told);
  const std::string random = what_is_random(computed.answer.computation);
  if (!random.empty()) page.say(random);
  if (!random_elsewhere.empty() && random_elsewhere != random) page.say("The other sentence: " + random_elsewhere);
  if (computed.writer()) add_writing(page, computed, alterations);
  add_changed_results(page, graph, again);
  if (const RightWords* const right = computed.answer.attachments.find<RightWords>()) add_losses(page, *right, again);
  if (const std::optional<std::string> task = arguments.text(option::tested_on))
    add_held_out(page, graph, computed.answer.attachments.find<ModelRerun>(), *task, alterations);
  add_moved(page, moved, wanted.size(), arguments.only().has_value());
  for (const ChangedMatrix& one : moved) page.trace.add(*one.now);
  std::vector<std::string> remarks = std::move(computed.answer.warnings);
  std::ranges::move(overflows(moved), std::back_inserter(remarks));
  Answer answer{.page = std::move(page), .warnings = std::move(remarks)};
  AlteredComputation& altered = answer.attachments.of<AlteredComputation>();
  altered = {.before = computed.graph, .now = again.graph().shared_from_this(), .named = {}, .random = random};
  for (const Node* node : graph.named())
    altered.named.push_back(again.changes(*node) ? again.graph().find(node->name) : node);
  return answer;
}

std::vector<OptionChoice> choices::parts_left_out() { return choices_of(ablations()); }

}  // namespace attn
