#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/check/file_comparison.hpp"
#include "command/check/recording.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/input_report.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/problem_options.hpp"
#include "school/check/records.hpp"

namespace attn {

// Many files, each compared by itself.

namespace {

// How a file compares.
enum class Result { agrees, agrees_rounded, agrees_supposed, may_be_conventions, differs, not_compared };

struct ResultRow {
  Result result;
  std::string_view of_one;  // "agrees"
  std::string_view counted;
};

constexpr std::array results = {
    ResultRow{Result::agrees, "agrees", "agree"},
    ResultRow{Result::agrees_rounded, "agrees (rounded)", "agree with steps that were rounded"},
    ResultRow{Result::agrees_supposed, "agrees (supposed)", "agree with what neither the line nor the file says"},
    ResultRow{Result::may_be_conventions, "convention", "differ by what can be a convention"},
    ResultRow{Result::differs, "differs", "differ"},
    ResultRow{Result::not_compared, "not compared", "could not be compared"},
};

// What came of one file, of which nothing else is kept.
struct CheckedFile {
  std::string path;
  Result result = Result::not_compared;
  std::string refused = {};  // why it could not be compared
  std::size_t compared = 0, differ = 0;
  // Of the first matrix that differs.
  std::string matrix = {};
  Records::Value kind = std::monostate();
  std::vector<std::string> mistakes = {};
  std::string explained = {};  // for readers

  std::vector<std::string> further_mistakes = {};
};

// The files of the words; of a folder, what stands in it, each of which may be a folder with the matrices of one
// computation.
std::vector<FileOfFolder> files_to_check(const std::vector<std::string>& words) {
  if (words.empty()) fail("--each compares several files: give them, or a folder: attn check --each FILE...");
  std::vector<FileOfFolder> files;
  for (const std::string& word : words) {
    std::error_code unknown;
    if (!std::filesystem::is_directory(confined_path(word), unknown)) {
      files.push_back({.path = word});
      continue;
    }
    std::vector<FileOfFolder> inside = files_of_folder(word);
    if (inside.empty()) fail("{} has no files: give files with matrices, or a folder that has some", word);
    std::ranges::move(inside, std::back_inserter(files));
  }
  return files;
}

// What a reader sees of a finding: the mistakes that explain it, each alone, or that none does.
std::string explained(const Finding& finding) {
  const std::vector<std::string> names = names_of_mistakes(finding);
  if (names.empty()) return finding.has_other_mask_value ? "another mask value" : "no known mistake";
  return fmt::format("{}", fmt::join(names, " or "));
}

void take_finding(const CheckResult& found, CheckedFile& file) {
  const std::vector<ComparedMatrix>& compared = found.matched.compared;
  file.compared = compared.size();
  file.differ = static_cast<std::size_t>(
      std::ranges::count_if(compared, [](const ComparedMatrix& matrix) { return !matrix.difference.agrees(); }));
  file.result = found.findings.precision          ? Result::agrees_rounded
                : !found.matched.supposed.empty() ? Result::agrees_supposed
                                                  : Result::agrees;
  if (found.findings.precision) file.explained = found.findings.precision->told;
  if (!found.matched.supposed.empty())
    file.explained +=
        fmt::format("{}with {}", file.explained.empty() ? "" : ", ", list_in_words(found.matched.supposed));
  for (const Finding& finding : found.findings.all) {
    if (&finding != &found.findings.all.front()) {
      std::ranges::move(names_of_mistakes(finding), std::back_inserter(file.further_mistakes));
      continue;
    }
    file.result = found.findings.may_be_conventions() ? Result::may_be_conventions : Result::differs;
    file.matrix = compared[finding.place].node->name;
    file.kind = kind_of(finding);
    file.mistakes = names_of_mistakes(finding);
    file.explained = explained(finding) + (file.explained.empty() ? "" : ", " + file.explained);
  }
}

// The computation depends on the file: its right numbers come from the inputs there, where the line gives none.
CheckedFile check_file(const Command& named, Arguments arguments, const FileOfFolder& to_check) {
  const std::string& path = to_check.path;
  CheckedFile file{.path = path, .refused = to_check.refused};
  if (!file.refused.empty()) return file;
  const Command* const recorded = named.shown_as ? command_of_file(path) : nullptr;
  const Command& command = recorded ? *recorded : named;
  const InputReports own;  // what was assumed of one file is not told of all
  arguments.words.clear();
  arguments.leave_out(std::array{&option::each});
  arguments.put(option::against, path);
  try {
    take_matrices_to_compare(command, arguments);
    arguments.read();
    const Answer answer = command.run(command, arguments);
    if (!answer.computation.graph) fail("attn {} shows no matrices here", command.name);
    take_finding(check_result(command, arguments, answer.computation.graph), file);
  } catch (const InputError& error) {
    file.refused = with_options(error.what());
  }
  return file;
}

const ResultRow& row_of_result(Result result) { return *std::ranges::find(results, result, &ResultRow::result); }

// Each file, for programs: what its first finding is and, after it, the mistakes of the others.
Records records_of_files(const std::vector<CheckedFile>& files) {
  Records records{
      "files",
      {"file", "result", "agrees", "compared", "differ", "matrix", "kind", "mistakes", "further_mistakes", "reason"},
      {}};
  for (const CheckedFile& file : files) {
    const bool is_compared = file.result != Result::not_compared;
    const auto where = [](bool is_known, Records::Value value) {
      return is_known ? std::move(value) : Records::Value(std::monostate());
    };
    records.rows.push_back({file.path, std::string(row_of_result(file.result).of_one),
                            where(is_compared, file.result == Result::agrees || file.result == Result::agrees_rounded ||
                                                   file.result == Result::agrees_supposed),
                            where(is_compared, std::uint64_t{file.compared}),
                            where(is_compared, std::uint64_t{file.differ}), where(!file.matrix.empty(), file.matrix),
                            file.kind, file.mistakes, file.further_mistakes, where(!is_compared, file.refused)});
  }
  return records;
}

Listing listing_of_files(const std::vector<CheckedFile>& files) {
  Listing listing{.columns = {"file", "result", "first that differs", "what gives its numbers"}, .headed = true};
  for (const CheckedFile& file : files) {
    listing.rows.push_back({file.path, std::string(row_of_result(file.result).of_one), file.matrix,
                            file.refused.empty() ? file.explained : file.refused});
  }
  return listing;
}

// In how many files each mistake was found first, the most frequent ones before the others.
Listing listing_of_mistakes(const std::vector<CheckedFile>& files) {
  std::map<std::string, std::size_t> counts;
  for (const CheckedFile& file : files) {
    if (!file.matrix.empty()) ++counts[file.explained];
  }
  std::vector<std::pair<std::string, std::size_t>> ordered(counts.begin(), counts.end());
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const auto& one) { return one.second; });
  Listing listing{.columns = {"what gives the first numbers that differ", "files"}, .headed = true};
  for (const auto& [name, count] : ordered) listing.rows.push_back({name, std::to_string(count)});
  return listing;
}

}  // namespace

Answer check_each(const Command& command, const Arguments& arguments) {
  std::vector<CheckedFile> files;
  for (const FileOfFolder& file : files_to_check(arguments.words))
    files.push_back(check_file(command, arguments, file));
  Answer answer;
  Page& page = answer.page;
  page.head(1, fmt::format("Comparison of {}", count_of(files.size(), "file")));
  std::vector<std::string> counts;
  for (const ResultRow& row : results) {
    const auto count = static_cast<std::size_t>(std::ranges::count(files, row.result, &CheckedFile::result));
    if (count > 0) counts.push_back(count_of(count, row.of_one, row.counted));
  }
  page.say(fmt::format("Of {}: {}.", count_of(files.size(), "file"), fmt::join(counts, ", ")));
  page.say(listing_of_files(files));
  if (Listing mistakes = listing_of_mistakes(files); mistakes.rows.size() > 1) page.say(std::move(mistakes));
  page.say(records_of_files(files));
  const bool is_strict = arguments.has(option::strict);
  const auto passes = [&](const CheckedFile& file) {
    if (is_strict) return file.result == Result::agrees;
    return file.result != Result::differs && file.result != Result::not_compared;
  };
  if (!std::ranges::all_of(files, passes)) answer.verdict = Verdict::failed;
  if (std::ranges::all_of(files, [](const CheckedFile& file) { return file.result == Result::not_compared; }))
    answer.complaints.emplace_back(
        "attn check --each could compare no file. The table says why: correct the files, or the options");
  return answer;
}

}  // namespace attn
