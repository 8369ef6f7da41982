#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apart/annex.hpp"
#include "apart/apart_options.hpp"
#include "apart/failure/failure.hpp"
#include "command/app.hpp"
#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/document/document.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// Failures that people meet, made in a computation of the reader.

namespace {

Answer list_failures() {
  Answer answer;
  Listing listing{.columns = {"failure", "symptom", "law that catches it"}, .headed = true};
  Records records{"failures", {"name", "symptom", "law", "mistakes", "command", "options"}, {}};
  for (const Failure& failure : failures()) {
    listing.rows.push_back({std::string(failure.name), std::string(failure.symptom), std::string(failure.law)});
    records.rows.push_back({std::string(failure.name), std::string(failure.symptom), std::string(failure.law),
                            split_at_any(failure.mistakes, " "), std::string(failure.command),
                            std::string(failure.options)});
  }
  answer.page.say(std::move(listing));
  answer.page.say(text("To see one: ", code("attn break wrong-axis"),
                       ". On your own sentence: ", code("attn break wrong-axis --text '…'"), "."));
  answer.page.say(std::move(records));
  return answer;
}

// Whether the line says what is computed, and not only how.
bool gives_input(const Arguments& arguments) {
  return arguments.has_input() ||
         arguments.has_any(std::array{&option::example, &option::problem, &option::model, &option::parameters,
                                      &option::text, &option::source, &option::target, &option::target_x, &option::n});
}

// What a failure needs beside what the reader gives.
Arguments with_needs(const Failure& failure, const Command& command, bool is_usual, const Arguments& given) {
  std::string line = fmt::format("attn {}", command.name);
  if (is_usual && !gives_input(given)) line += fmt::format(" {}", failure.problem);
  if (is_usual) line += fmt::format(" {}", failure.options);
  Arguments all = parse(command_lines(line, "", 1).front().words).arguments;
  all.read();
  std::vector<OfferedOption> offered = options_of(command);
  for (const OptionValues::Entry& entry : given.entries()) {
    const bool is_known = std::ranges::find(offered, entry.option, &OfferedOption::option) != offered.end();
    if (!is_known && std::ranges::find(problem_members(), entry.option) != problem_members().end())
      fail("{} is a failure of attn {}, which has no option {}: leave it out", failure.name, command.name,
           entry.option->name);
  }
  for (const Exclusion& pair : exclusions_of(command)) {
    if (given.has(*pair.one)) all.leave_out(std::array{pair.other});
    if (given.has(*pair.other)) all.leave_out(std::array{pair.one});
  }
  all.override_with(given);
  all.leave_out(std::array{&option::broken});
  if (!is_usual) all.words = given.words;
  all.environment = given.environment;
  all.default_example = given.default_example;
  return all;
}

// Of the options of the failure, those that the reader did not give and that none of the reader's excludes.
std::string added_options(const Failure& failure, const Arguments& given, const Arguments& all) {
  std::string added;
  const std::string line = fmt::format("attn {} {}", failure.command, failure.options);
  const Arguments own = parse(command_lines(line, "", 1).front().words).arguments;
  for (const OptionValues::Entry& entry : own.entries()) {
    if (given.has(*entry.option) || !all.has(*entry.option)) continue;
    if (!added.empty()) added += ' ';
    added += entry.option->name;
    if (const UnreadText* const values = std::get_if<UnreadText>(&entry.value)) {
      for (const std::string& value : values->texts) added += " " + value;
    }
  }
  return added;
}

std::string told_outcome(const std::vector<LawCheck>& of, std::string_view computation) {
  const auto broken = std::ranges::find_if(of, [](const LawCheck& held) { return held.broken.has_value(); });
  if (broken == of.end()) return fmt::format("The law holds for the {} computation.", computation);
  std::string all =
      fmt::format("The law does not hold for the {} computation. {}", computation, violation_in_words(*broken->broken));
  if (broken->broken->of > 1)
    all += fmt::format(" It fails in {} of {} places.", broken->broken->cells, broken->broken->of);
  return all;
}

// Why a failure does not show: what the computation lacks, or else what its numbers are.
std::string told_as_hidden(const Failure& failure, const MadeFailure& made, const Graph& original) {
  const std::string missing = missing_for(failure, original);
  return fmt::format(
      "In this computation the failure does not show: {}. {}",
      made.changes ? "the law holds in spite of the mistake" : "the mistake changes none of these numbers",
      !missing.empty() ? fmt::format("It needs {}.", missing)
                       : fmt::format("With these numbers {}.",
                                     made.changes ? "the law cannot tell the mistake from the right computation"
                                                  : "the mistake gives the right result"));
}

// The matrix in which a failure is met: beside the place where the law fails, or the first of its name.
const Node& node_shown(const Failure& failure, const MadeFailure& made) {
  const std::string name(failure.shown);
  if (const LawCheck* const failing = made.failing()) {
    for (const Node* node : failing->of) {
      if (const Node* const beside = made.broken->find(std::string(node->scope()) + name)) return *beside;
    }
  }
  return *made.broken->matching(name).front();
}

void say_failure(Page& page, const Failure& failure, const MadeFailure& made, const Graph& original) {
  const Node& shown = node_shown(failure, made);
  const LawCheck* const failing = made.failing();
  page.head(2, "The symptom");
  if (!made.changes || !failing) page.say(told_as_hidden(failure, made, original));
  page.say(table_of(shown));
  if (failing && failing->broken->cell && failing->broken->cell->node == &shown) {
    // Which the decimals of a table do not show.
    constexpr double small = 1e-4;
    const double number = failing->broken->cell->value();
    if (number != 0.0 && std::fabs(number) < small)
      page.say(fmt::format("{} is {:.4g}.", cell_name(*failing->broken->cell), number));
  }
  page.head(2, "The law that catches it");
  page.say(text(code(std::string(failure.law))));
  page.say(told_outcome(made.of_broken, "broken"));
  page.say(told_outcome(made.of_original, "correct"));
  if (failing && failing->broken->cell && failing->broken->cell->node->original().op) {
    page.head(3, fmt::format("How {} came about", cell_name(*failing->broken->cell)));
    page.say(derivation(*failing->broken->cell, 0));
  }
  page.head(2, "Why");
  page.say(std::string(failure.why));
  page.head(2, "The fix");
  page.say(std::string(failure.fix));
  if (const Node* const fixed = original.find(shown.name)) {
    Table table = table_of(*fixed);
    table.array = {};  // of which the page has the broken one
    page.say(std::move(table));
  }
  const std::vector<const Mistake*> mistakes = mistakes_of(failure);
  page.say(text(code("attn check"), fmt::format(" has {:this name for the mistake|these names for the mistakes}:",
                                                Count{mistakes.size()})));
  Listing listing{{"mistake", "what it is"}, {}};
  for (const Mistake* mistake : mistakes)
    listing.rows.push_back({std::string(mistake->name), std::string(mistake->summary)});
  page.say(std::move(listing));
}

void say_records(Page& page, const Failure& failure, const MadeFailure& made) {
  const LawCheck* const failing = made.failing();
  Records records{"failure", {"name", "law", "mistakes", "shows", "holds_broken", "holds_correct", "place"}, {}};
  records.rows.push_back({std::string(failure.name), std::string(failure.law), split_at_any(failure.mistakes, " "),
                          made.changes && failing, !failing, made.holds_for_original(),
                          failing ? Records::Value(failing->broken->place) : Records::Value(std::monostate())});
  page.say(std::move(records));
}

std::string in_capitals(std::string_view phrase) {
  std::string title(phrase);
  if (title.front() >= 'a' && title.front() <= 'z') title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

}  // namespace

Answer failure_page(const Command& command, const Arguments& arguments) {
  const Failure& failure = look_up(failures(), *arguments.text(option::broken), "failure");
  const bool is_usual = command.shown_as == &option::broken;
  const Command& computed = is_usual ? look_up(commands(), failure.command, "command") : command;
  const Arguments all = with_needs(failure, computed, is_usual, arguments);
  Answer answer = computed.run(computed, all);
  const std::shared_ptr<Graph> graph = answer.computation.graph;
  if (!graph) fail("attn {} shows no matrices here: there is nothing that could be broken", computed.name);
  const MadeFailure made = make_failure(failure, *graph);
  const std::string missing = missing_for(failure, *graph);
  const std::string advice = "give others of the options, or leave them out";
  if (!made.broken)
    fail("{} cannot be made in this computation{}: {}", failure.name,
         missing.empty() ? "" : fmt::format(", because it needs {}", missing), advice);
  if (!made.holds_for_original())
    fail("{} cannot be told in this computation, because {} does not hold in it without the mistake either{}: {}",
         failure.name, failure.law, missing.empty() ? "" : fmt::format(". It needs {}", missing), advice);
  Page page;
  page.head(1, in_capitals(failure.symptom));
  if (const std::string random = what_is_random(answer.computation); !random.empty()) page.say(random);
  if (const std::string added = is_usual ? added_options(failure, arguments, all) : ""; !added.empty())
    page.say(text("Computed with ", code(added), "."));
  say_failure(page, failure, made, *graph);
  say_records(page, failure, made);
  answer.page.blocks = std::move(page.blocks);
  answer.page.trace = Trace(made.broken->named());
  return answer;
}

// Without a name, what there is.
Answer run_break(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return list_failures();
}

std::vector<OptionChoice> choices::failures() {
  std::vector<OptionChoice> all;
  for (const Failure& failure : attn::failures()) all.push_back({failure.name, failure.symptom});
  return all;
}

}  // namespace attn
