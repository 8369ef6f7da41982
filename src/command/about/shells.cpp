#include <algorithm>
#include <array>

#include "command/command.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// What completes in a shell. It knows nothing of attn: it asks `attn complete` (completion.cpp) with the
// words so far, reads whether there are files, too, and whether words are unfinished, and then a word in each
// line.
struct Shell {
  std::string_view name;
  std::string_view summary;
  std::string_view script;
};

constexpr std::array table = {
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

std::vector<OptionChoice> choices::shells() {
  return choices_of(std::span<const Shell>(table));
}

Outcome run_completion(const Command&, const Arguments& arguments) {
  const Shell& shell = look_up(std::span<const Shell>(table), arguments.words.front(), "shell");
  Outcome outcome;
  outcome.page.say(CodeBlock{std::string(shell.name), std::string(shell.script)});
  return outcome;
}

}  // namespace attn
