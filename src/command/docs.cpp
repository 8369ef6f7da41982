#include "command/docs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/course_commands.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/shell.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"
#include "page/document/document_outputs.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// Whether a file comes for the first time, under whatever name.
bool is_first(const std::string& path, std::set<std::filesystem::path>& seen) {
  std::error_code unknown;
  const std::filesystem::path place = std::filesystem::weakly_canonical(confined_path(path), unknown);
  return seen.insert(unknown ? std::filesystem::path(path) : place).second;
}

// The files that the words name, each once: themselves, or those of Markdown in a folder and below it.
std::vector<std::string> paths_of(const Arguments& arguments) {
  std::vector<std::string> all;
  std::set<std::filesystem::path> seen;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    std::vector<std::string> below = markdown_files_in(*path);
    if (below.empty()) below.push_back(*path);
    std::ranges::copy_if(below, std::back_inserter(all), [&](const std::string& one) { return is_first(one, seen); });
  }
  return all;
}

std::vector<Document> documents(const Arguments& arguments) {
  std::vector<Document> all;
  for (const std::string& path : paths_of(arguments)) all.push_back(read_document(read_bytes(path), path));
  return all;
}

// Writes what has changed, and says of each document whether it has.
class Changes {
 public:
  void add(const Document& document, std::string text, std::string_view what) {
    const bool same = text == bytes_of(document);
    listing_.rows.push_back({document.path, same ? "nothing to change" : std::string(what)});
    if (!same) files_.push_back({document.path, std::move(text), bytes_of(document)});
  }

  void add(FileToWrite picture) {
    listing_.rows.push_back({picture.path, picture.replaces ? "drawn anew" : "drawn"});
    files_.push_back(std::move(picture));
  }

  Answer finish() {
    Answer answer;
    answer.page.say(std::move(listing_));
    answer.files = std::move(files_);
    return answer;
  }

 private:
  Listing listing_{{"document", "what was done"}, {}};
  std::vector<FileToWrite> files_;
};

// Nothing is written unless every block of every document runs.
Answer update(const Arguments& arguments) {
  Changes changes;
  for (const Document& document : documents(arguments)) {
    const std::vector<BlockOutput> outputs = outputs_of(document, block_runner());
    for (const BlockOutput& output : outputs) {
      for (const BrokenLaw& broken : output.broken_laws) fail_at(document.at(broken.line), "{}", broken.says);
    }
    std::string updated = with_outputs(document, outputs);
    refuse_long_document(updated, document.path + " with its output would be");
    changes.add(document, std::move(updated), "output updated");
    for (FileToWrite& picture : pictures_to_write(document, outputs)) changes.add(std::move(picture));
  }
  return changes.finish();
}

Answer clean(const Arguments& arguments) {
  Changes changes;
  for (const Document& document : documents(arguments))
    changes.add(document, without_outputs(document), "output removed");
  return changes.finish();
}

// A whole walk that has changed says no more than its beginning.
std::string told_staleness(const StaleBlock& stale) {
  constexpr std::size_t most = 20;
  const std::size_t shown = std::min(stale.difference.size(), most), left = stale.difference.size() - shown;
  std::string told = fmt::format("{}", fmt::join(std::span(stale.difference).first(shown), "\n"));
  if (left > 0) told += fmt::format("\n  … {} more", count_of(left, "line"));
  return told;
}

// What is said of a block behind its command, and as its state for programs.
struct StaleState {
  std::string says, state;
};

StaleState state_of(const StaleBlock& stale) {
  if (stale.is_new) return {"has no output yet", "no output yet"};
  if (!stale.difference.empty()) return {"has a different output now", "different"};
  return {fmt::format("has no picture beside the document: {} {:is|are} missing", list_in_words(stale.missing),
                      Count{stale.missing.size()}),
          "picture missing"};
}

void add_stale(Page& page, const StaleBlock& stale) {
  const std::string place = fmt::format("{}:{}: ", stale.place.path, stale.place.line);
  const std::string says = " " + state_of(stale).says;
  if (stale.is_new || stale.difference.empty()) return page.say(text(place, code(stale.command), says + "."));
  page.say(text(place, code(stale.command), says + " (- in the document, + from the program):"));
  page.say(CodeBlock{"diff", told_staleness(stale)});
}

// A line for each block that is not current, as programs mark it in a list of changes.
struct Annotation {
  std::string_view name, summary;
  std::string (*written)(const std::string& path, std::size_t line, const std::string& sentence);
};

// What separates the parts of a line for GitHub is written by its number there.
std::string for_github(std::string_view text, std::string_view separators) {
  std::string written;
  for (const char c : text) {
    if (separators.find(c) == std::string_view::npos) {
      written += c;
    } else {
      written += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return written;
}

constexpr std::array annotation_table = {
    Annotation{"github", "lines that GitHub Actions shows at the changed lines",
               [](const std::string& path, std::size_t line, const std::string& sentence) {
                 return fmt::format("::error file={},line={}::{}", for_github(path, "%\r\n:,"), line,
                                    for_github(sentence, "%\r\n"));
               }},
    Annotation{"lines", "FILE:LINE: SENTENCE, which GitLab shows in its log and editors jump to",
               [](const std::string& path, std::size_t line, const std::string& sentence) {
                 return fmt::format("{}:{}: {}", path, line, sentence);
               }},
};

// What was found of each block, for readers and for programs.
class CheckedBlocks {
 public:
  explicit CheckedBlocks(const Annotation* annotation) : annotation_(annotation) {}

  /// One that is named has blocks, where one in a folder need not.
  void add(const Document& document, bool is_named) {
    if (is_named && document.commands.empty()) without_blocks_.push_back(document.path);
    const std::vector<BlockOutput> outputs = outputs_of(document, block_runner());
    const std::vector<StaleBlock> stale = stale_blocks(document, outputs);
    auto next = stale.begin();
    for (std::size_t i = 0; i < document.commands.size(); ++i) {
      const CommandBlock& block = document.commands[i];
      const CommandLine& line = block.lines.front();
      const bool is_stale = next != stale.end() && next->place.line == line.line;
      note(document.path, line, is_stale ? state_of(*next).state : "current");
      if (is_stale) tell(*next++);
      laws_ += block.laws.size();
      for (const BrokenLaw& broken : outputs[i].broken_laws) add_broken(document.path, line, broken);
    }
    if (!stale.empty()) to_fix_.push_back(shell_word((document.path.starts_with('-') ? "./" : "") + document.path));
    blocks_ += document.commands.size();
  }

  // One that cannot be checked hides nothing of the others.
  void add_complaint(const std::string& path, std::string sentence) {
    records_.rows.push_back({path, std::monostate(), std::monostate(), "cannot be run", sentence});
    if (annotation_) annotate(path, 1, sentence);
    answer_.complaints.push_back(std::move(sentence));
  }

  /// The command is that of the line, where there is one.
  void add_complaint(const ErrorAtPlace& error, const std::optional<Document>& document) {
    const auto& [path, line] = error.place();
    const CommandLine* const command = document ? command_at(*document, line) : nullptr;
    records_.rows.push_back(
        {path, line, command ? Records::Value(command->text) : std::monostate(), "cannot be run", error.sentence()});
    if (annotation_) annotate(path, line, error.sentence());
    answer_.complaints.emplace_back(error.what());
  }

  Answer finish() {
    if (!to_fix_.empty() || has_broken_) answer_.verdict = Verdict::failed;
    if (!annotations_.empty()) answer_.page.say(CodeBlock{"text", fmt::format("{}", fmt::join(annotations_, "\n"))});
    if (has_broken_)
      answer_.page.say("Where a law does not hold, change the law or the command above it: attn docs update cannot.");
    if (!to_fix_.empty()) {
      answer_.page.say(text(has_broken_ ? "Then fix the outputs with: " : "Fix it with: ",
                            code(fmt::format("attn docs update {}", fmt::join(to_fix_, " ")))));
    } else if (blocks_ > 0) {
      const std::string_view outputs = answer_.complaints.empty() ? "All outputs" : "All other outputs";
      answer_.page.say(text(fmt::format("{} are current: {}.", outputs, count_of(blocks_, "block"))));
    }
    if (blocks_ == 0 && without_blocks_.empty() && answer_.complaints.empty())
      answer_.page.say("No file of Markdown here has blocks of attn.");
    if (!without_blocks_.empty()) {
      constexpr std::size_t most_named = 5;
      const std::size_t count = without_blocks_.size();
      answer_.page.say(fmt::format("{} {:has|have} no blocks of attn.",
                                   count <= most_named ? list_in_words(without_blocks_) : count_of(count, "file"),
                                   Count{count}));
    }
    if (laws_ > 0 && !has_broken_) answer_.page.say(fmt::format("All laws hold: {}.", count_of(laws_, "line")));
    answer_.page.say(std::move(records_));
    return std::move(answer_);
  }

 private:
  // That which stands there, or the first of the block to which a law belongs.
  static const CommandLine* command_at(const Document& document, std::size_t line) {
    for (const CommandBlock& block : document.commands) {
      if (line < block.fence.first_line || line > block.last_line()) continue;
      const auto found = std::ranges::find(block.lines, line, &CommandLine::line);
      return found != block.lines.end() ? &*found : &block.lines.front();
    }
    return nullptr;
  }

  void note(const std::string& path, const CommandLine& line, std::string_view state) {
    records_.rows.push_back({path, line.line, line.text, std::string(state), ""});
  }

  void annotate(const std::string& path, std::size_t line, const std::string& sentence) {
    constexpr std::string_view here = "./";  // forges know a file by its path from the top
    const std::string_view own = path;
    annotations_.push_back(
        annotation_->written(std::string(own.substr(own.starts_with(here) ? here.size() : 0)), line, sentence));
  }

  void tell(const StaleBlock& stale) {
    if (!annotation_) return add_stale(answer_.page, stale);
    annotate(stale.place.path, stale.place.line, fmt::format("{} {}", stale.command, state_of(stale).says));
  }

  void add_broken(const std::string& path, const CommandLine& line, const BrokenLaw& broken) {
    has_broken_ = true;
    if (annotation_) {
      annotate(path, broken.line, broken.says);
    } else {
      answer_.page.say(fmt::format("{}:{}: {}", path, broken.line, broken.says));
    }
    records_.rows.push_back({path, broken.line, line.text, "law broken", broken.says});
  }

  const Annotation* annotation_;  // null: whole sentences and differences
  std::vector<std::string> annotations_;
  Answer answer_;
  std::size_t blocks_ = 0, laws_ = 0;
  bool has_broken_ = false;
  std::vector<std::string> to_fix_, without_blocks_;
  Records records_{"blocks", {"document", "line", "command", "state", "reason"}, {}};
};

Answer check_documents(const Arguments& arguments) {
  const std::optional<std::string> way = arguments.text(option::annotate);
  CheckedBlocks checked(way ? &look_up(std::span<const Annotation>(annotation_table), *way, "way to annotate")
                            : nullptr);
  for (const std::string& path : paths_of(arguments)) {
    std::optional<Document> document;
    try {
      document = read_document(read_bytes(path), path);
      checked.add(*document, std::ranges::find(arguments.words, path) != arguments.words.end());
    } catch (const ErrorAtPlace& error) {
      checked.add_complaint(error, document);
    } catch (const InputError& error) {
      checked.add_complaint(path, error.what());
    }
  }
  return checked.finish();
}

// For .git/hooks/pre-commit. Only the documents of a commit are checked, and all that they may read is as it is
// committed; names are taken with any signs in them.
constexpr std::string_view hook_of_git = R"hook(#!/bin/sh
# Checks the output of attn in the Markdown files of a commit, as they are staged.
# Install it with: attn docs hook > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
cd "$(git rev-parse --show-toplevel)" || exit 2
staged=$(mktemp -d) || exit 2
trap 'rm -rf "$staged"' EXIT
trap 'exit 2' HUP INT TERM
git checkout-index --all --prefix="$staged/" || exit 2
git diff --cached --name-only --diff-filter=ACMR -z -- '*.md' |
  (cd "$staged" && xargs -0 -r attn docs check --)
status=$?
if [ "$status" -ne 0 ]; then
  echo "The commit was stopped: update the documents and add them, or commit with --no-verify." >&2
fi
exit "$status")hook";

Answer print_hook(const Arguments&) {
  Answer answer;
  answer.page.say(CodeBlock{"sh", std::string(hook_of_git)});
  return answer;
}

constexpr PositionalArgument files{"FILE", PositionalArgument::Count::some, Kind::path};

const std::array action_table_of_docs = {
    Action{"update", "run the commands in the files, and write what they print below them", {files}, update},
    Action{
        "check",
        "compare the output in the files with what the commands print, and hold the laws; exit code 1 if one differs",
        {files},
        check_documents,
        {&option::annotate}},
    Action{"clean", "remove the output from the files", {files}, clean},
    Action{"hook", "print a hook of git that checks the Markdown files of each commit", {}, print_hook},
};

}  // namespace

std::vector<OptionChoice> choices::annotations() { return choices_of(std::span<const Annotation>(annotation_table)); }

std::span<const Action> docs_actions() { return action_table_of_docs; }

Answer run_docs(const Command& command, const Arguments& arguments) {
  return run_action(command, look_up(command.actions, arguments.words.front(), "action of attn docs"), arguments);
}

}  // namespace attn
