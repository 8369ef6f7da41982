#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/arguments.hpp"
#include "page/page.hpp"
#include "problem/problem.hpp"
#include "render/style.hpp"
#include "support/file_to_write.hpp"
#include "support/sink.hpp"
#include "support/terminal.hpp"

namespace attn {

/// What a command that checks something found. Exit code 0 or 1.
enum class Verdict { passed, failed };

/// What goes to and fro at a terminal instead of a page.
using Session = std::function<void(Terminal& terminal, const Style& style)>;

/// Writes a file of its own kind, which no format of pages is.
using WriteDocument = std::function<void(const Style& style, Sink& sink)>;

/// What is done once the page is written. Returns what there is to warn of.
using Afterwards = std::function<std::vector<std::string>(Terminal& terminal)>;

/// What a command has to say.
struct Outcome {
  Page page;
  std::vector<std::string> warnings = {};
  std::optional<std::string> output = {};  // a file that the command's own words name
  Verdict verdict = Verdict::passed;
  std::vector<FileToWrite> files = {};  // besides the page
  Session session = {};                 // instead of the page
  WriteDocument document = {};          // instead of the page
  Afterwards afterwards = {};           // behind the page
  Calculation computation = {};         // behind the page
};

/// A word of a command line that is no option.
struct Word {
  enum class Count { one, optional, any, some /* one or more */ };

  std::string_view name;  // "FILE"
  Count count = Count::one;
  Kind kind = Kind::word;         // or a path, or what else an option would be
  Choices choices = nullptr;      // of a path: what else it may be
  std::string_view cell_of = {};  // of a cell: the command whose matrices it chooses from

  bool is_required() const { return count == Count::one || count == Count::some; }
  bool may_repeat() const { return count == Count::any || count == Count::some; }
};

/// Words as usage tells them: "SRC DST", "ACTION FILE...", "[NAME]".
std::string written(std::span<const Word> words);
/// How many words there are at least, and at most.
std::size_t least_count(std::span<const Word> words);
std::size_t most_count(std::span<const Word> words);

/// What a command can do, where its first word says it: attn docs check.
struct Action {
  std::string_view name;
  std::string_view summary;
  std::vector<Word> words;  // after its name
  Outcome (*run)(const Arguments& arguments);
  std::vector<const Option*> options = {};  // of those that only some actions take, the ones that it takes
};

/// Who types the name of a command: people, or other programs, for which no help lists it.
enum class Caller { people, programs };

/// A subcommand.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::vector<Word> words = {};
  std::span<const Action> actions = {};  // which its first word names
  Caller caller = Caller::people;
  std::span<const std::string_view> formats = {};  // that it writes itself, besides those of pages
  const Option* shown_as = nullptr;  // its last word may name another command, which runs with this option
  OptionGroup own = {};              // its own options
  std::vector<const OptionGroup*> groups = {};  // those that it shares with others
  unsigned shows = on_attention;                // which effects of options can be seen
  std::vector<const Option*> idle = {};         // options of problems that it takes no notice of all the same
  std::string_view default_example = {};        // where no problem is given; empty: the first
  std::vector<std::string_view> examples = {};  // command lines
  Outcome (*run)(const Command& command, const Arguments& arguments);

  /// Whether it takes notice of an option of problems.
  bool uses(const Option& option) const;
  /// Whether it works on a problem: words or matrices that are attended to.
  bool takes_problem() const;
  /// Whether it works on a model, whose options are written and read as a whole.
  bool takes_model() const;
};

/// The other command that a line of such a command names, and how many words stand before its name: a file,
/// where the option takes one. Null: it runs itself.
struct ShownAs {
  const Command* other = nullptr;
  std::size_t words = 0;
};
ShownAs command_shown_as(const Command& command, std::span<const std::string> line);

/// All options that a command takes, in the order of its help: its own, those of the output, those of groups.
std::vector<Offered> options_of(const Command& command);

/// What words are chosen from.
namespace choices {
std::vector<OptionChoice> built_in();
std::vector<OptionChoice> lessons();
std::vector<OptionChoice> puzzles();
std::vector<OptionChoice> drills();
std::vector<OptionChoice> errata();
std::vector<OptionChoice> help();
std::vector<OptionChoice> mapped();
std::vector<OptionChoice> shells();
std::vector<OptionChoice> browser_pages();
std::vector<OptionChoice> with_gradients();
std::vector<OptionChoice> checked();
}  // namespace choices

std::span<const Action> lesson_actions();
std::span<const std::string_view> lesson_formats();
std::span<const Action> docs_actions();

/// All commands. A new one is one file, its declaration below, and one entry.
std::span<const Command> commands();

// The commands of a subject, in the order of the help.
std::vector<Command> attention_commands();
std::vector<Command> model_commands();
std::vector<Command> train_commands();

// The commands, one file each.
Outcome run_walk(const Command& command, const Arguments& arguments);
Outcome run_step(const Command& command, const Arguments& arguments);
Outcome run_feed_forward(const Command& command, const Arguments& arguments);
Outcome run_explain(const Command& command, const Arguments& arguments);
Outcome run_examples(const Command& command, const Arguments& arguments);
Outcome run_map(const Command& command, const Arguments& arguments);
Outcome run_backward(const Command& command, const Arguments& arguments);
Outcome run_influence(const Command& command, const Arguments& arguments);
Outcome run_check(const Command& command, const Arguments& arguments);
Outcome run_product(const Command& command, const Arguments& arguments);
Outcome run_scale(const Command& command, const Arguments& arguments);
Outcome run_pool(const Command& command, const Arguments& arguments);
Outcome run_embed(const Command& command, const Arguments& arguments);
Outcome run_positions(const Command& command, const Arguments& arguments);
Outcome run_errata(const Command& command, const Arguments& arguments);
Outcome run_align(const Command& command, const Arguments& arguments);
Outcome run_compare_scores(const Command& command, const Arguments& arguments);
Outcome run_compare_masks(const Command& command, const Arguments& arguments);
Outcome run_compare_positions(const Command& command, const Arguments& arguments);
Outcome run_split_heads(const Command& command, const Arguments& arguments);
Outcome run_transformer(const Command& command, const Arguments& arguments);
Outcome run_parameters(const Command& command, const Arguments& arguments);
Outcome run_layer_norm(const Command& command, const Arguments& arguments);
Outcome run_train(const Command& command, const Arguments& arguments);
Outcome run_generate(const Command& command, const Arguments& arguments);
Outcome run_cost(const Command& command, const Arguments& arguments);
Outcome run_show(const Command& command, const Arguments& arguments);
Outcome run_convert(const Command& command, const Arguments& arguments);
Outcome run_drill(const Command& command, const Arguments& arguments);
Outcome run_lesson(const Command& command, const Arguments& arguments);
Outcome run_puzzle(const Command& command, const Arguments& arguments);
Outcome run_docs(const Command& command, const Arguments& arguments);
Outcome run_page(const Command& command, const Arguments& arguments);
Outcome run_help(const Command& command, const Arguments& arguments);
Outcome run_version(const Command& command, const Arguments& arguments);
Outcome run_completion(const Command& command, const Arguments& arguments);
Outcome run_complete(const Command& command, const Arguments& arguments);
Outcome run_manual(const Command& command, const Arguments& arguments);

/// The help of the program, of one command, and of what is its own alone.
Page general_help();
Page command_help(const Command& command);
Page short_help(const Command& command);

}  // namespace attn
