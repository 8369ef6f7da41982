#include "data/problem/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

std::vector<std::string> split_list(std::string_view text) {
  const std::string_view separators = text.find(',') != std::string_view::npos ? "," : " \t\n";
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::vector<std::string> words_from(const Option& option, const std::string& text) {
  std::vector<std::string> words = split_list(text);
  if (words.empty()) fail("{}: '{}' has no words: give at least one", option.name, text);
  return words;
}

std::vector<std::size_t> counts_from(const Option& option, const std::string& text, std::size_t most) {
  std::vector<std::size_t> counts;
  for (const std::string& piece : split_list(text)) counts.push_back(count_from(option, option.name, piece, most));
  if (counts.empty()) fail("{}: give at least one whole number", option.name);
  return counts;
}

template <class Convert>
auto each(const std::vector<std::string>& texts, const Convert& convert) {
  std::vector<decltype(convert(texts.front()))> values;
  for (const std::string& text : texts) values.push_back(convert(text));
  return values;
}

// Each may be a batch.
std::vector<MatrixFile> matrices_from(const Option& option, const std::vector<std::string>& sources) {
  std::vector<MatrixFile> all;
  for (const std::string& source : sources) {
    for (MatrixFile& file : read_matrices(source)) {
      tell_of(option, option.name, file);
      all.push_back(std::move(file));
    }
  }
  return all;
}

MatrixFile matrix_of_option(const Option& option, const std::string& source) {
  MatrixFile file = read_matrix(source);
  tell_of(option, option.name, file);
  return file;
}

OptionValue value_of(const Option& option, UnreadText unread) {
  const std::string& first = unread.texts.front();
  switch (option.kind) {
    case Kind::count:
      return count_from(option, option.name, first, unread.most);
    case Kind::counts:
      return counts_from(option, first, unread.most);
    case Kind::number:
      return number_from(option, option.name, first);
    case Kind::words:
      return each(unread.texts, [&](const std::string& text) { return words_from(option, text); });
    case Kind::matrix:
      return each(unread.texts, [&](const std::string& text) { return matrix_of_option(option, text); });
    case Kind::matrices:
      return matrices_from(option, unread.texts);
    default:
      return unread;  // is no text that needs to be read
  }
}

bool may_repeat(Kind kind) {
  return kind == Kind::flag || kind == Kind::texts || kind == Kind::words || kind == Kind::matrices;
}

MaskReading reading_of(const Option& option, std::string_view called, const MatrixFile& file) {
  if (option.permits_only)
    require_permissions(called == option.member ? fmt::format("\"{}\"", called) : std::string(called), file);
  return reading_of_mask(file);
}

bool lacks(const OptionValues& values, const Requirement& row) {
  return values.has(*row.one) && !values.has_any(row.any_of);
}

// What the other groups tell of an option that lacks something in one of them.
struct ToldElsewhere {
  std::vector<const Requirement*> lacking = {};
  bool is_content = false;  // one of them
};

ToldElsewhere told_elsewhere(const OptionValues& values, std::span<const OptionGroup> groups, const OptionGroup& but,
                             const Option* one) {
  ToldElsewhere told;
  for (const OptionGroup& group : groups) {
    if (&group == &but) continue;
    const std::size_t before = told.lacking.size();
    bool tells = false;
    for (const Requirement& row : group.needs) {
      if (row.one != one) continue;
      tells = true;
      if (lacks(values, row)) told.lacking.push_back(&row);
    }
    if (tells && told.lacking.size() == before) told.is_content = true;
  }
  return told;
}

// "--of belongs to --each-head, --backward or --influence: …"
std::string sentence_of_several(const Requirement& first, std::span<const Requirement* const> others) {
  std::vector<std::string_view> names;
  const auto add = [&](const Requirement& row) {
    for (const Option* option : row.any_of) names.push_back(option->name);
  };
  add(first);
  for (const Requirement* row : others) add(*row);
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{0} belongs to {1} or {2}: give one of them, or leave out {0}", first.one->name,
                     fmt::join(names, ", "), last);
}

}  // namespace

void tell_of(const Option& option, std::string_view called, const MatrixFile& file) {
  InputReport input = input_report_of(called, file);
  if (option.is_mask) input.assumed.push_back(reading_of(option, called, file).assumption);
  InputReports::tell(std::move(input));
}

void require_finite(std::string_view called, const MatrixFile& file, bool minus_infinity_allowed) {
  const Matrix& matrix = file.matrix;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      const double value = matrix(i, j);
      if (std::isfinite(value)) continue;
      if (minus_infinity_allowed && std::isinf(value) && value < 0.0) continue;
      fail("{}{}: the cell in row {}, column {} is {}: every number must be finite{}",
           file.where.empty() ? "" : file.where + ": ", called, i + 1, j + 1, value,
           minus_infinity_allowed ? ", or -inf" : "");
    }
  }
}

std::size_t count_from(const Option& option, std::string_view called, std::string_view text, std::size_t most) {
  // Where an option has no limit of its own, the one that all counts have tells only what is larger.
  const bool has_limit = most != Option().most ||
                         (!text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }));
  if (!has_limit && !parse_number<std::size_t>(text))
    fail("{} must be a whole number of {} or more, not '{}'", called, option.least, text);
  return whole_number(called, text, option.least, most);
}

double number_from(const Option& option, std::string_view called, const std::string& text) {
  const std::optional<double> number = parse_number<double>(text);
  if (!number || std::isnan(*number) || !option.rule->holds(*number))
    fail("{}: '{}' is {}: {}", called, text, option.rule->broken, option.advice);
  return *number;
}

void OptionValues::put_text(const OfferedOption& offered, std::vector<std::string> texts) {
  const Option& option = *offered.option;
  if (!may_repeat(option.kind) && texts.size() != 1)
    fail("{} is given {} times: give it once", option.name, texts.size());
  switch (option.kind) {
    case Kind::flag:
      return put(option, true);
    case Kind::word:
    case Kind::word_or_number:
    case Kind::text:
    case Kind::path:
      return put(option, std::move(texts.front()));
    case Kind::texts:
      return put(option, std::move(texts));
    default:
      return put(option, UnreadText{std::move(texts), offered.most});
  }
}

void OptionValues::put(const Option& option, OptionValue value) {
  const auto found = std::ranges::find(entries_, &option, &Entry::option);
  if (found != entries_.end()) {
    *found = {&option, std::move(value)};
  } else {
    entries_.push_back({&option, std::move(value)});
  }
}

void OptionValues::put(const Option& option, MatrixFile file) { put(option, std::vector{std::move(file)}); }

void OptionValues::read() {
  for (Entry& entry : entries_) {
    auto* const unread = std::get_if<UnreadText>(&entry.value);
    if (!unread) continue;
    try {
      entry.value = value_of(*entry.option, std::move(*unread));
    } catch (InputError& error) {
      error.is_about_option(entry.option->name);
      throw;
    }
  }
}

void OptionValues::mark_random(std::string_view member) {
  for (Entry& entry : entries_) entry.was_random = entry.was_random || entry.option->member == member;
}

bool OptionValues::has_any(std::span<const Option* const> options) const {
  return std::ranges::any_of(options, [&](const Option* option) { return has(*option); });
}

bool OptionValues::has_input() const {
  return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.option->is_input; });
}

void OptionValues::leave_out(std::span<const Option* const> options) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return std::ranges::find(options, entry.option) != options.end(); });
}

void OptionValues::override_with(const OptionValues& other) {
  for (const Replacement& row : replacements()) {
    if (other.has(*row.given)) leave_out(std::array{row.replaced});
  }
  for (const Entry& entry : other.entries_) put(*entry.option, entry.value);
}

const OptionValues::Entry* OptionValues::find(const Option& option) const {
  const auto found = std::ranges::find(entries_, &option, &Entry::option);
  return found == entries_.end() ? nullptr : &*found;
}

template <class T>
const T& OptionValues::get(const Option& option) const {
  static const T nothing;
  const Entry* const entry = find(option);
  return entry ? std::get<T>(entry->value) : nothing;
}

const std::vector<std::size_t>& OptionValues::counts(const Option& option) const {
  return get<std::vector<std::size_t>>(option);
}

const std::vector<std::string>& OptionValues::texts(const Option& option) const {
  return get<std::vector<std::string>>(option);
}

const std::vector<std::vector<std::string>>& OptionValues::words(const Option& option) const {
  return get<std::vector<std::vector<std::string>>>(option);
}

const std::vector<MatrixFile>& OptionValues::matrices(const Option& option) const {
  return get<std::vector<MatrixFile>>(option);
}

void add_group(OptionGroup& all, const OptionGroup& more) {
  all.options.insert(all.options.end(), more.options.begin(), more.options.end());
  all.exclusions.insert(all.exclusions.end(), more.exclusions.begin(), more.exclusions.end());
  all.needs.insert(all.needs.end(), more.needs.begin(), more.needs.end());
}

void check_exclusions(const OptionValues& values, std::span<const Exclusion> exclusions) {
  for (const Exclusion& row : exclusions) {
    if (!values.has(*row.one) || !values.has(*row.other)) continue;
    const std::string sentence =
        row.sentence.empty() ? fmt::format("{} and {} are both given: give one of them", row.one->name, row.other->name)
                             : fmt::format(fmt::runtime(row.sentence), row.other->name);
    throw InputError(sentence, {.option = std::string(row.other->name)});
  }
}

void check_needs(const OptionValues& values, const OptionGroup& group) { check_needs(values, std::span(&group, 1)); }

void check_needs(const OptionValues& values, std::span<const OptionGroup> groups) {
  for (const OptionGroup& group : groups) {
    for (const Requirement& row : group.needs) {
      if (!lacks(values, row)) continue;
      const ToldElsewhere others = told_elsewhere(values, groups, group, row.one);
      if (others.is_content) continue;
      throw InputError(others.lacking.empty() ? std::string(row.sentence) : sentence_of_several(row, others.lacking),
                       {.option = std::string(row.one->name)});
    }
  }
}

}  // namespace attn
