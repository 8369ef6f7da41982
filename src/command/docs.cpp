#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "command/block_runner.hpp"
#include "command/command.hpp"
#include "document/living.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// The documents that the words name.
std::vector<Document> documents(const Arguments& arguments) {
  std::vector<Document> all;
  for (auto path = arguments.words.begin() + 1; path != arguments.words.end(); ++path) {
    all.push_back(read_document(read_bytes(*path), *path));
  }
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

  Outcome finish() {
    Outcome outcome;
    outcome.page.say(std::move(listing_));
    outcome.files = std::move(files_);
    return outcome;
  }

 private:
  Listing listing_{{"document", "what was done"}, {}};
  std::vector<FileToWrite> files_;
};

// Nothing is written unless every block of every document runs.
Outcome update(const Arguments& arguments) {
  Changes changes;
  for (const Document& document : documents(arguments)) {
    const std::vector<Printed> outputs = outputs_of(document, block_runner());
    std::string updated = with_outputs(document, outputs);
    refuse_long_document(updated, document.path + " with its output would be");
    changes.add(document, std::move(updated), "output updated");
    for (FileToWrite& picture : pictures_to_write(document, outputs)) changes.add(std::move(picture));
  }
  return changes.finish();
}

Outcome clean(const Arguments& arguments) {
  Changes changes;
  for (const Document& document : documents(arguments))
    changes.add(document, without_outputs(document), "output removed");
  return changes.finish();
}

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void add_stale(Page& page, const Stale& stale) {
  page.say(text(fmt::format("{}:{}: ", stale.place.path, stale.place.line), code(stale.command),
                " has a different output now (- in the document, + from the program):"));
  page.say(CodeBlock{"diff", joined(stale.difference)});
}

Outcome check(const Arguments& arguments) {
  Outcome outcome;
  std::size_t blocks = 0;
  std::vector<std::string> to_fix;
  for (const Document& document : documents(arguments)) {
    const std::vector<Stale> stale = stale_blocks(document, outputs_of(document, block_runner()));
    for (const Stale& block : stale) add_stale(outcome.page, block);
    if (!stale.empty()) to_fix.push_back(document.path);
    blocks += document.commands.size();
  }
  if (to_fix.empty()) {
    outcome.page.say(text(fmt::format("All outputs are current: {}.", count_of(blocks, "block"))));
  } else {
    outcome.verdict = Verdict::failed;
    outcome.page.say(text("Fix it with: ", code(fmt::format("attn docs update {}", fmt::join(to_fix, " ")))));
  }
  return outcome;
}

constexpr Word files{"FILE", Word::Count::some, Kind::path};

const std::array actions = {
    Action{"update", "run the commands in the files, and write what they print below them", {files}, update},
    Action{"check",
           "compare the output in the files with what the commands print; exit code 1 if it differs",
           {files},
           check},
    Action{"clean", "remove the output from the files", {files}, clean},
};

}  // namespace

std::span<const Action> docs_actions() {
  return actions;
}

Outcome run_docs(const Command&, const Arguments& arguments) {
  return look_up(std::span<const Action>(actions), arguments.words.front(), "action of attn docs")
      .run(arguments);
}

}  // namespace attn
