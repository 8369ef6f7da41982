#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/options.hpp"
#include "core/support/attachments.hpp"
#include "core/support/outside.hpp"
#include "data/problem/option.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What the world around the program does for work that takes long, while it goes on. Main has the real one.
class LongWork {
 public:
  virtual ~LongWork() = default;
  /// Shows what the work is at, in one line that takes the place of the one before.
  virtual void tell(std::string_view stage) = 0;
  /// The size of what can be drawn anew in place; nothing: nobody sees it.
  virtual std::optional<TerminalSize> canvas() const = 0;
  /// Shows these lines in the place of those before. They are no wider than the canvas; those for which it is
  /// not high enough are left out.
  virtual void draw(const std::vector<std::string>& lines) = 0;
  /// What is drawn stays where it is: what comes next is written below it.
  virtual void keep_drawing() {}
  /// Whether keys can be pressed meanwhile. From the first time on that this is asked, they come one by one and are not
  /// shown, until the work ends.
  virtual bool has_keys() { return false; }
  /// The next key, or nothing within this time.
  virtual std::optional<Keystroke> key_within(std::chrono::milliseconds) { return std::nullopt; }
  /// Whether somebody has asked for the work to stop. From the first time on that this is asked, the first
  /// such signal no longer ends the program.
  virtual bool is_to_stop() = 0;
  /// Whether somebody has asked for it.
  virtual bool was_asked_to_stop() const { return false; }
  /// Throws OutputError where a file could not be written.
  virtual void prepare_to_save(const std::string& path) = 0;
  /// Writes a file whole or not at all, now. Throws OutputError.
  virtual void save(const FileToWrite& file) = 0;
};

/// The world around the program, as far as it decides what a command says and how it looks.
struct Environment {
  std::function<std::optional<std::string>(const char*)> variable;
  bool output_is_terminal = false;
  bool input_is_terminal = false;
  std::size_t terminal_width = 0;                   // of standard output; 0: unknown
  std::function<std::optional<Rgb>()> ground = {};  // what the terminal says of its background
  std::function<std::uint32_t()> new_seed = {};     // another one each time; empty: there is none
  LongWork* work = nullptr;                         // for work that may take long; null: nobody waits
  /// From then on nothing is written but in the folders of these files; empty: nothing can see to that.
  std::function<void(const std::vector<std::string>& files)> confine = {};

  /// That of a line within this one, which alone shows its work and is confined.
  Environment inner() const;
};

/// A command line after parsing: the options that were given, and the words that are no options.
struct Arguments : OptionValues {
  std::vector<std::string> words;
  std::vector<std::string> line = {};     // as it was typed, from the name of the command on
  std::string_view default_example = {};  // where no problem is given; empty: the first
  const Environment* environment = nullptr;
  Attachments attachments = {};  // what a form has prepared for itself

  /// The patterns of --only as one, whose alternatives are separated by |.
  std::optional<std::string> only() const;
  /// Whether something else is shown in place of the whole page: some matrices, one cell, a product, or the
  /// weights in another form.
  bool narrows() const {
    return has_any(
        std::array{&option::only, &option::explain, &option::product, &option::map, &option::from, &option::against});
  }
  /// Where long work is shown, stopped and saved; null: nowhere.
  LongWork* long_work() const;
  /// Shows the progress of long work.
  void tell(std::string_view stage) const;
};

/// What a command that checks something found. Exit code 0 or 1.
enum class Verdict { passed, failed };

/// What goes to and fro at a terminal instead of a page.
using Session = std::function<void(Terminal& terminal, const Style& style)>;

/// Writes a file of its own kind, which no format of pages is.
using WriteDocument = std::function<void(const Style& style, Sink& sink)>;

/// What is done once the page is written. Returns what there is to warn of.
using Afterwards = std::function<std::vector<std::string>(Terminal& terminal)>;

/// What a command has to say.
struct Answer {
  Page page;
  std::vector<std::string> warnings = {};
  std::vector<std::string> notes = {};     // what is said beside a page that has no room for it
  std::optional<std::string> output = {};  // a file, or "-"; a command says which where its own words name one
  Verdict verdict = Verdict::passed;
  std::vector<std::string> complaints = {};  // of what could not be done at all; the page has the rest
  std::vector<FileToWrite> files = {};       // besides the page, and before it
  Session session = {};                      // instead of the page
  WriteDocument document = {};               // instead of the page
  Afterwards afterwards = {};                // behind the page
  Calculation computation = {};              // behind the page
  Attachments attachments = {};              // what its maker leaves, for whoever asks by its type

  /// Whether it is written to a file.
  bool is_file() const { return output != "-"; }
};

/// The same once it is known how it is written.
struct AnswerInFormat : Answer {
  const Format* format = nullptr;
  Style style = {};
  std::optional<std::string> pager = {};  // a command that pages at a terminal, or "" for our own; nothing: none
};

/// A word of a command line that is no option.
struct PositionalArgument {
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
std::string usage_of_words(std::span<const PositionalArgument> words);
/// How many words there are at least, and at most.
std::size_t least_count(std::span<const PositionalArgument> words);
std::size_t most_count(std::span<const PositionalArgument> words);

/// What a command can do, where its first word says it: attn docs check.
struct Action {
  std::string_view name;
  std::string_view summary;
  std::vector<PositionalArgument> words;  // after its name
  Answer (*run)(const Arguments& arguments);
  std::vector<const Option*> options = {};  // of those that only some actions take, the ones that it takes
};

/// Who types the name of a command: people, or other programs, for which no help lists it.
enum class Caller { people, programs };

/// What commands are for, as help groups them.
struct Subject {
  std::string_view title;
};

namespace subject {
inline constexpr Subject whole{"Attention as a whole"};
inline constexpr Subject steps{"Its steps"};
inline constexpr Subject models{"Models"};
inline constexpr Subject training{"Gradients and training"};
inline constexpr Subject comparing{"Comparing"};
inline constexpr Subject checking{"Checking"};
inline constexpr Subject teaching{"Learning and teaching"};
inline constexpr Subject files{"Files and documents"};
inline constexpr Subject program{"The program itself"};
}  // namespace subject

/// In the order of help.
inline constexpr const Subject* subjects[] = {&subject::whole,    &subject::steps,     &subject::models,
                                              &subject::training, &subject::comparing, &subject::checking,
                                              &subject::teaching, &subject::files,     &subject::program};

/// Names that the help of a command lists besides its options.
struct NamesInHelp {
  std::string_view title;
  Choices names = nullptr;
};

/// A subcommand.
struct Command {
  std::string_view name;
  const Subject* subject = nullptr;  // of those that people call, every one has a subject
  std::string_view summary;
  std::vector<PositionalArgument> words = {};
  std::span<const Action> actions = {};  // which its first word names
  Caller caller = Caller::people;
  std::span<const std::string_view> formats = {};  // that it writes itself, besides those of pages
  const Option* shown_as = nullptr;             // its last word may name another command, which runs with this option
  OptionGroup own = {};                         // its own options
  std::vector<const OptionGroup*> groups = {};  // those that it shares with others
  unsigned shows = on_attention;                // which effects of options can be seen
  std::vector<const Option*> idle = {};         // options of problems that it takes no notice of all the same
  OptionList wordless = {};                     // those of its own with which it needs no words
  std::string_view default_example = {};        // where no problem is given; empty: the first
  NamesInHelp told = {};
  std::vector<std::string_view> examples = {};  // command lines
  Answer (*run)(const Command& command, const Arguments& arguments);

  /// Whether it takes notice of an option of problems.
  bool uses(const Option& option) const;
  /// Whether a line with this option of its own needs no words.
  bool needs_no_words(const Option& option) const;
  /// Whether it works on a problem: words or matrices that are attended to.
  bool takes_problem() const;
  /// Whether it works on a model, whose options are written and read as a whole.
  bool takes_model() const;
};

/// Throws InputError for a last word that names no command which could be shown so: it comes too late, or is none.
void refuse_other_word(const Command& command, const Arguments& arguments);

/// The flag that a word of a line is, of a command whose own flags may stand before the name of another; null: none.
const Option* flag_of(const Command& command, std::string_view word);

/// The other command that a line of such a command names, and how much of the line stands before its name: files,
/// where the option takes one, and flags of the command's own. Null: it runs itself.
struct ShownAs {
  const Command* other = nullptr;
  std::size_t words = 0;
};
ShownAs command_shown_as(const Command& command, std::span<const std::string> line);

/// All options that a command takes, in the order of its help: its own, those of the output, those of groups.
std::vector<OfferedOption> options_of(const Command& command);

/// Which options of a command exclude each other: its own, the forms of its page, and those of its groups.
std::vector<Exclusion> exclusions_of(const Command& command);

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
std::vector<OptionChoice> with_matrices();
std::vector<OptionChoice> law_functions();

}  // namespace choices

std::span<const Action> lesson_actions();
std::span<const std::string_view> lesson_formats();
std::span<const Action> drill_actions();
std::span<const Action> docs_actions();

/// All commands. A new one of the house is a function, its declaration below, and one entry.
std::span<const Command> commands();
/// Those of a subject, in the order of the help.
std::vector<const Command*> commands_on(const Subject& subject);

// The entries, by the room that most of their functions are in.
std::vector<Command> attention_commands();
std::vector<Command> model_commands();
std::vector<Command> train_commands();

// The commands.
Answer run_walk(const Command& command, const Arguments& arguments);
Answer run_step(const Command& command, const Arguments& arguments);
Answer run_feed_forward(const Command& command, const Arguments& arguments);
Answer run_concat(const Command& command, const Arguments& arguments);
Answer run_explain(const Command& command, const Arguments& arguments);
Answer run_assert(const Command& command, const Arguments& arguments);
Answer run_examples(const Command& command, const Arguments& arguments);
Answer run_map(const Command& command, const Arguments& arguments);
Answer run_backward(const Command& command, const Arguments& arguments);
Answer run_influence(const Command& command, const Arguments& arguments);
Answer run_check(const Command& command, const Arguments& arguments);
Answer run_product(const Command& command, const Arguments& arguments);
Answer run_scale(const Command& command, const Arguments& arguments);
Answer run_pool(const Command& command, const Arguments& arguments);
Answer run_embed(const Command& command, const Arguments& arguments);
Answer run_positions(const Command& command, const Arguments& arguments);
Answer run_errata(const Command& command, const Arguments& arguments);
Answer run_align(const Command& command, const Arguments& arguments);
Answer run_compare_scores(const Command& command, const Arguments& arguments);
Answer run_compare_masks(const Command& command, const Arguments& arguments);
Answer run_compare_positions(const Command& command, const Arguments& arguments);
Answer run_split_heads(const Command& command, const Arguments& arguments);
Answer run_transformer(const Command& command, const Arguments& arguments);
Answer run_parameters(const Command& command, const Arguments& arguments);
Answer run_layer_norm(const Command& command, const Arguments& arguments);
Answer run_cross_entropy(const Command& command, const Arguments& arguments);
Answer run_train(const Command& command, const Arguments& arguments);
Answer run_generate(const Command& command, const Arguments& arguments);
Answer run_lens(const Command& command, const Arguments& arguments);
Answer run_cost(const Command& command, const Arguments& arguments);
Answer run_tokenize(const Command& command, const Arguments& arguments);
Answer run_show(const Command& command, const Arguments& arguments);
Answer run_convert(const Command& command, const Arguments& arguments);
Answer run_drill(const Command& command, const Arguments& arguments);
Answer run_lesson(const Command& command, const Arguments& arguments);
Answer run_puzzle(const Command& command, const Arguments& arguments);
Answer run_docs(const Command& command, const Arguments& arguments);
Answer run_page(const Command& command, const Arguments& arguments);
Answer run_help(const Command& command, const Arguments& arguments);
Answer run_version(const Command& command, const Arguments& arguments);
Answer run_completion(const Command& command, const Arguments& arguments);
Answer run_complete(const Command& command, const Arguments& arguments);
Answer run_manual(const Command& command, const Arguments& arguments);

/// The help of the program, of one command, and of what is its own alone.
Page general_help();
Page command_help(const Command& command);
Page short_help(const Command& command);

/// What the program tells its caller with a number.
struct ExitCode {
  int code;
  std::string_view meaning;
};

namespace exit_code {
inline constexpr ExitCode success{0, "what was asked for was done"};
inline constexpr ExitCode failed{
    1, "a check failed, a matrix differed, an answer to a lesson was wrong, or the output could not be written"};
inline constexpr ExitCode wrong_input{
    2, "the command line, or a file that it names, is wrong; or there is not enough memory"};
inline constexpr ExitCode defect{70, "a defect of attn"};
}  // namespace exit_code

/// In the order of help.
inline constexpr const ExitCode* exit_codes[] = {&exit_code::success, &exit_code::failed, &exit_code::wrong_input,
                                                 &exit_code::defect};

/// A variable of the environment that the program reads, and what it says.
struct Variable {
  const char* name;
  std::string_view summary;
};

/// All of them. Like an option a variable is known by its address: whoever reads one names its row.
namespace variable {
// clang-format off
inline constexpr Variable
    attn_color        = {"ATTN_COLOR",     "use colors: always, never or auto; --color comes before it"},
    no_color          = {"NO_COLOR",       "if it is set, use no colors"},
    force_color       = {"FORCE_COLOR",    "if it is set and not 0, use colors although the output is no terminal"},
    clicolor_force    = {"CLICOLOR_FORCE", "the same as FORCE_COLOR"},
    colorterm         = {"COLORTERM",      "truecolor or 24bit: the terminal shows all colors"},
    term              = {"TERM",
        "kind of the terminal; dumb: no colors and no pager, and 256 in its name: 256 colors"},
    attn_theme        = {"ATTN_THEME",     "background of the terminal: dark, light or auto; --theme comes before it"},
    colorfgbg         = {"COLORFGBG",      "colors of the terminal; the last number is that of the background"},
    ssh_connection    = {"SSH_CONNECTION", "if it is set, wait longer for what the terminal says of its background"},
    attn_pager        = {"ATTN_PAGER",     "command that shows long pages; cat or nothing: no pager"},
    pager             = {"PAGER",          "the same where ATTN_PAGER is not set"},
    columns           = {"COLUMNS",        "width of a pipe, and of a terminal that does not tell its own"},
    lc_all            = {"LC_ALL",         "locale: without UTF-8 in it, text for a terminal or a pipe is ASCII"},
    lc_ctype          = {"LC_CTYPE",       "the same where LC_ALL is not set"},
    lang              = {"LANG",           "the same where neither of them is set"},
    xdg_state_home    = {"XDG_STATE_HOME", "folder of the progress in lessons; it must be an absolute path"},
    home              = {"HOME",
        "your folder, which has the progress where XDG_STATE_HOME is not set; it must be an absolute path"},
    openblas_coretype = {"OPENBLAS_CORETYPE",
        "kernel of OpenBLAS in place of that for your processor, such as Haswell"};
// clang-format on
}  // namespace variable

/// In the order of help.
inline constexpr const Variable* variables[] = {
    &variable::attn_color,     &variable::no_color,         &variable::force_color, &variable::clicolor_force,
    &variable::attn_theme,     &variable::colorfgbg,        &variable::colorterm,   &variable::term,
    &variable::ssh_connection, &variable::columns,          &variable::attn_pager,  &variable::pager,
    &variable::lc_all,         &variable::lc_ctype,         &variable::lang,        &variable::xdg_state_home,
    &variable::home,           &variable::openblas_coretype};

}  // namespace attn
