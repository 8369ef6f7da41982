#include "command/about/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- completion

// What is typed before the last word: options, the words that are none, and what the last one belongs to.
struct Typed {
  std::vector<std::string> line;          // of which the matrices follow
  OptionList given;                       // options
  std::vector<std::string> words;         // that are no options
  const OfferedOption* awaits = nullptr;  // the option whose value comes next
  bool only_words = false;                // after --
};

// Whether it only chooses among the matrices, or says how they are written.
bool only_shows(const Option& option) {
  const auto has = [&](const OptionGroup& group) {
    return std::ranges::find(group.options, &option, &OfferedOption::option) != group.options.end();
  };
  return has(matrix_options()) || has(output_options());
}

const OfferedOption* find_option(std::span<const OfferedOption> offered, std::string_view word) {
  for (const OfferedOption& row : offered) {
    const char letter = row.option->letter;
    if (word == row.option->name || (letter != '\0' && word == std::string{'-', letter})) return &row;
  }
  return nullptr;
}

Typed read_typed(std::span<const std::string> before, std::span<const OfferedOption> offered) {
  Typed typed;
  for (const std::string& word : before) {
    const std::size_t equals = word.find('=');
    const OfferedOption* const row =
        typed.awaits || typed.only_words ? nullptr : find_option(offered, word.substr(0, equals));
    const OfferedOption* const belongs_to = typed.awaits ? typed.awaits : row;
    if (!belongs_to || !only_shows(*belongs_to->option)) typed.line.push_back(word);
    if (row) {
      typed.given.push_back(row->option);
      if (row->option->kind != Kind::flag && equals == std::string::npos) typed.awaits = row;
    } else if (typed.awaits) {
      typed.awaits = nullptr;
    } else if (word == "--" && !typed.only_words) {
      typed.only_words = true;
    } else {
      typed.words.push_back(word);
    }
  }
  if (typed.awaits && !only_shows(*typed.awaits->option)) typed.line.pop_back();
  return typed;
}

// The options that cannot be given beside those that are.
OptionList excluded_by(const OptionList& given, const Command& command) {
  OptionList excluded;
  for (const Exclusion& row : exclusions_of(command)) {
    for (const auto& [one, other] : {std::pair{row.one, row.other}, std::pair{row.other, row.one}}) {
      if (std::ranges::find(given, one) != given.end()) excluded.push_back(other);
    }
  }
  return excluded;
}

bool has(const OptionList& options, const Option& option) {
  return std::ranges::find(options, &option) != options.end();
}

void add_choices(Candidates& all, const std::vector<OptionChoice>& choices) {
  for (const OptionChoice& choice : choices)
    all.words.push_back({std::string(choice.name), std::string(choice.summary)});
}

bool is_file(Kind kind) { return kind == Kind::path || kind == Kind::matrix || kind == Kind::matrices; }

constexpr std::size_t most_places = 1000;  // of rows, or of columns

// A label that a cell can be told by, as it stands; a number where it could mean something else.
std::string place(const Axis& axis, std::size_t i) {
  const std::string label = axis.labels ? axis.label(i) : "";
  const bool is_plain = !label.empty() && label.find_first_of(" ,\"'[]\\") == std::string::npos &&
                        label.find_first_not_of("0123456789") != std::string::npos &&
                        std::ranges::count(*axis.labels, label) == 1;
  return is_plain ? label : std::to_string(i + 1);
}

// The matrices of a command line, by name.
class Matrices {
 public:
  Matrices(const Command& command, const Typed& typed, const Environment& environment) {
    std::vector<std::string> line = typed.line;
    // Standard input is for those who run the line.
    if (std::ranges::find(line, "-") != line.end()) return;
    line.insert(line.begin(), std::string(command.name));
    // An outline has the names without the numbers.
    const bool has_outline = find_option(options_of(command), option::outline.name) != nullptr;
    if (has_outline && !has(typed.given, option::outline) && !has(excluded_by(typed.given, command), option::outline))
      line.insert(line.begin() + 1, std::string(option::outline.name));
    try {
      Answer answer = attn::answer(line, environment);
      graph_ = answer.computation.graph;
      trace_ = std::move(answer.page.trace);
    } catch (const InputError&) {
      // Who runs the line will be told.
    }
  }

  std::vector<std::string> names() const {
    if (graph_) return graph_->names();
    std::vector<std::string> names;
    for (const TracedMatrix& matrix : trace_.matrices()) names.push_back(matrix.name);
    return names;
  }

  // "weights[it," for each row that fits, or "weights[it,tired]" for each column where one row is left.
  Candidates cells(std::string_view typed) const {
    const std::size_t open = typed.find('[');
    const Node* const node = graph_ ? graph_->find(typed.substr(0, open)) : nullptr;
    if (!node) return {};
    const auto places = [&](std::string_view before, const Axis& axis, std::size_t size, char after) {
      Candidates all{.unfinished = after == ','};
      for (std::size_t i = 0; i < std::min(size, most_places); ++i) {
        std::string cell = fmt::format("{}{}{}", before, place(axis, i), after);
        if (cell.starts_with(typed.substr(0, cell.size()))) all.words.push_back({std::move(cell)});
      }
      return all;
    };
    Candidates rows = places(typed.substr(0, open + 1), node->frame.rows, node->frame.shape.rows, ',');
    if (rows.words.size() != 1) return rows;
    return places(rows.words.front().word, node->frame.columns, node->frame.shape.columns, ']');
  }

 private:
  std::shared_ptr<const Graph> graph_;
  Trace trace_;
};

Candidates cell_candidates(const Matrices& matrices, std::string_view typed) {
  if (typed.find('[') != std::string_view::npos) return matrices.cells(typed);
  Candidates all{.unfinished = true};
  for (const std::string& name : matrices.names()) {
    if (name.starts_with(typed)) all.words.push_back({name + "["});
  }
  // A single one is as good as typed.
  return all.words.size() == 1 ? matrices.cells(all.words.front().word) : all;
}

// Patterns are separated by |: the last one is completed.
Candidates patterns_of(const Matrices& matrices, std::string_view typed) {
  const std::string_view before = typed.substr(0, typed.rfind('|') + 1);
  Candidates all;
  for (const std::string& name : matrices.names()) all.words.push_back({std::string(before) + name});
  return all;
}

Candidates value_candidates(const OfferedOption& row, const Command& command, const Typed& typed,
                            std::string_view value, const Environment& environment) {
  const Option& option = *row.option;
  if (option.names_matrices) {
    const Matrices matrices(command, typed, environment);
    return option.kind == Kind::texts ? patterns_of(matrices, value) : cell_candidates(matrices, value);
  }
  Candidates all{.files = is_file(option.kind)};
  if (row.choices) add_choices(all, row.choices());
  return all;
}

bool may_repeat(const Option& option) {
  return option.kind == Kind::texts || option.kind == Kind::words || option.kind == Kind::matrices;
}

// Those that can still be given.
Candidates options_left(const Command& command, std::span<const OfferedOption> offered, const Typed& typed) {
  OptionList excluded = excluded_by(typed.given, command);
  for (const Option* option : typed.given) {
    if (!may_repeat(*option)) excluded.push_back(option);
  }
  Candidates all;
  for (const OfferedOption& row : offered) {
    if (!has(excluded, *row.option)) all.words.push_back({std::string(row.option->name), std::string(row.summary)});
  }
  return all;
}

// What may stand at a place among the words that are no options. After one that repeats, the next may come at any.
std::vector<const PositionalArgument*> words_at(std::span<const PositionalArgument> words, std::size_t place) {
  std::vector<const PositionalArgument*> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool repeats_before = i > 0 && words[i - 1].may_repeat();
    if (i == place || (i < place && (words[i].may_repeat() || repeats_before))) all.push_back(&words[i]);
  }
  return all;
}

Candidates word_candidates(const Command& command, const Typed& typed, std::string_view value,
                           const Environment& environment) {
  Candidates all;
  std::span<const PositionalArgument> words = command.words;
  std::size_t place = typed.words.size();
  if (!command.actions.empty()) {
    if (place == 0) {
      for (const Action& action : command.actions)
        all.words.push_back({std::string(action.name), std::string(action.summary)});
      return all;
    }
    const Action* const action = find_row(command.actions, typed.words.front());
    words = action ? std::span<const PositionalArgument>(action->words) : std::span<const PositionalArgument>();
    --place;
  }
  for (const PositionalArgument* word : words_at(words, place)) {
    if (!word->cell_of.empty())
      return cell_candidates({look_up(commands(), word->cell_of, "command"), typed, environment}, value);
    all.files = all.files || is_file(word->kind);
    if (word->choices) add_choices(all, word->choices());
  }
  return all;
}

Candidates candidates_of(const Command& command, std::span<const std::string> typed_words,
                         const Environment& environment) {
  const std::vector<OfferedOption> offered = options_of(command);
  const std::string& last = typed_words.back();
  const Typed typed = read_typed(typed_words.first(typed_words.size() - 1), offered);
  if (typed.awaits) return value_candidates(*typed.awaits, command, typed, last, environment);
  if (!typed.only_words && last.starts_with('-')) {
    const std::size_t equals = last.find('=');
    if (equals == std::string::npos) return options_left(command, offered, typed);
    const OfferedOption* const row = find_option(offered, last.substr(0, equals));
    if (!row || row->option->kind == Kind::flag) return {};
    Candidates all = value_candidates(*row, command, typed, last.substr(equals + 1), environment);
    for (Candidate& candidate : all.words) candidate.word.insert(0, last, 0, equals + 1);
    return all;
  }
  Candidates all = word_candidates(command, typed, last, environment);
  // Where no word is expected, options are.
  if (all.words.empty() && !all.files && !typed.only_words) return options_left(command, offered, typed);
  return all;
}

// Options only where one is begun.
Candidates commands_or_options(std::string_view begun) {
  Candidates all;
  if (begun.starts_with('-')) {
    for (const Option* option : {&option::help, &option::version})
      all.words.push_back({std::string(option->name), std::string(option->summary)});
    return all;
  }
  for (const Command& command : commands()) {
    if (command.caller == Caller::people)
      all.words.push_back({std::string(command.name), std::string(command.summary)});
  }
  return all;
}

// --- shells

// What completes in a shell. It knows nothing of attn: it asks `attn complete` (completion.cpp) with the
// words so far, reads whether there are files, too, and whether words are unfinished, and then a word in each
// line.
struct Shell {
  std::string_view name;
  std::string_view summary;
  std::string_view script;
};

constexpr std::array shell_table = {
    Shell{"bash", "for ~/.bashrc: source <(attn completion bash)", R"(# Completions of attn in bash.
_attn() {
  local i word hints words=() prefix= joins=
  # bash parts --format=json and numpy:0 at the signs in COMP_WORDBREAKS: they are one word.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $joins || $word == [=:] ]] && ((${#words[@]} > 0)); then
      [[ $word == [=:] ]] && joins=yes || joins=
      words[-1]+=$word
      [[ $joins ]] && prefix=${words[-1]}
    else
      joins= prefix=
      words+=("$word")
    fi
  done
  # Without the quotes.
  for i in "${!words[@]}"; do
    word=${words[i]#[\'\"]}
    word=${word%[\'\"]}
    words[i]=${word//\\/}
  done
  COMPREPLY=()
  {
    read -r hints
    while read -r word _; do
      COMPREPLY+=("${word#"$prefix"}")
    done
  } < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null </dev/null)
  [[ $hints == *unfinished* ]] && compopt -o nospace
  if [[ $hints == *files* ]]; then
    compopt -o filenames
    word=${words[-1]#"$prefix"}
    while read -r word; do
      COMPREPLY+=("$word")
    done < <(compgen -f -- "$word")
  fi
}
complete -F _attn attn)"},
    Shell{"zsh", "for ~/.zshrc: source <(attn completion zsh)", R"(#compdef attn
# Completions of attn in zsh.
compdef _attn attn
_attn() {
  local -a lines told
  local hints line
  lines=("${(@f)$($words[1] complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)words[CURRENT]#[\'\"]}" 2>/dev/null </dev/null)}")
  hints=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    if [[ $line == *' '* ]]; then
      told+=("${${line%% *}//:/\\:}:${line#* }")
    else
      told+=("${line//:/\\:}")
    fi
  done
  if [[ $hints == *unfinished* ]]; then
    _describe 'attn' told -S ''
  elif (( $#told )); then
    _describe 'attn' told
  fi
  [[ $hints == *files* ]] && _files
}
[[ $funcstack[1] == _attn ]] && _attn "$@")"},
    Shell{"fish", "for ~/.config/fish/config.fish: attn completion fish | source",
          R"(# Completions of attn in fish.
function __attn_complete
    set -l words (commandline -opc)
    set -l last (string replace -r '^[\'"]' '' -- (commandline -ct) | string unescape)
    set -l lines ($words[1] complete -- $words[2..-1] "$last" 2>/dev/null </dev/null)
    string match -q '*files*' -- $lines[1]; and __fish_complete_path "$last"
    string replace ' ' \t -- $lines[2..-1]
end
complete -c attn -f -a '(__attn_complete)')"},
};

}  // namespace

// --- completion

Candidates candidates(std::span<const std::string> typed, const Environment& environment) {
  Candidates all;
  const std::string_view last = typed.empty() ? std::string_view() : typed.back();
  if (typed.size() < 2) {
    all = commands_or_options(last);
  } else if (const Command* const command = find_row(commands(), typed.front())) {
    const std::span<const std::string> line = typed.subspan(1);
    // The last word is still being typed.
    const ShownAs as = command_shown_as(*command, line.first(line.size() - 1));
    all = as.other ? candidates_of(*as.other, line.subspan(as.words + 1), environment)
                   : candidates_of(*command, line, environment);
  }
  std::erase_if(all.words, [&](const Candidate& candidate) { return !candidate.word.starts_with(last); });
  return all;
}

// The first line says what else there is, as three shells read it; each of the others has a word and, after
// a blank, what it is.
Answer run_complete(const Command&, const Arguments& arguments) {
  const Candidates all = candidates(arguments.words, *arguments.environment);
  std::string text = fmt::format(":{}{}", all.files ? " files" : "", all.unfinished ? " unfinished" : "");
  for (const Candidate& candidate : all.words) {
    text += "\n" + candidate.word;
    if (!candidate.summary.empty()) text += " " + candidate.summary;
  }
  Answer answer;
  answer.page.say(CodeBlock{"text", std::move(text)});
  return answer;
}

// --- shells

std::vector<OptionChoice> choices::shells() { return choices_of(std::span<const Shell>(shell_table)); }

Answer run_completion(const Command&, const Arguments& arguments) {
  const Shell& shell = look_up(std::span<const Shell>(shell_table), arguments.words.front(), "shell");
  Answer answer;
  answer.page.say(CodeBlock{std::string(shell.name), std::string(shell.script)});
  return answer;
}

}  // namespace attn
