#include "problem/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "problem/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/whole_number.hpp"

namespace attn {
namespace {

// The fields that say what is attended to.
constexpr std::array sources = {"text", "x", "q", "k", "v", "scores", "weights", "n_q", "n_k", "memory"};

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

void require_once(const Field& field, const std::vector<std::string>& values) {
  if (values.size() != 1) fail("{} is given {} times: give it once", field.option, values.size());
}

}  // namespace

std::size_t whole_number(const Field& field, std::string_view text) {
  const std::size_t least = field.kind == FieldKind::count ? 1 : 0;
  const std::size_t most =
      field.kind == FieldKind::seed ? std::numeric_limits<std::uint32_t>::max() : std::size_t{1} << 31;
  return whole_number(field.option, text, least, most);
}

void Request::set(const Field& field, const std::vector<std::string>& values) {
  FieldValue& value = values_[std::string(field.name)];
  const auto list_of = [&](auto convert) {
    std::vector<decltype(convert(values.front()))> list;
    for (const std::string& text : values) list.push_back(convert(text));
    return list;
  };
  switch (field.kind) {
    case FieldKind::flag:
      value = true;
      break;
    case FieldKind::texts:
      value = values;
      break;
    case FieldKind::words:
      value = list_of([&](const std::string& text) {
        std::vector<std::string> words = split_list(text);
        if (words.empty()) fail("{}: '{}' has no words: give at least one", field.option, text);
        return words;
      });
      break;
    case FieldKind::matrices:
      value = list_of([](const std::string& text) { return read_matrix(text); });
      break;
    case FieldKind::matrix:
      require_once(field, values);
      value = list_of([](const std::string& text) { return read_matrix(text); });
      break;
    case FieldKind::count:
    case FieldKind::seed:
      require_once(field, values);
      value = whole_number(field, values.front());
      break;
    case FieldKind::counts: {
      require_once(field, values);
      std::vector<std::size_t> list;
      for (const std::string& text : split_list(values.front())) list.push_back(whole_number(field, text));
      if (list.empty()) fail("{}: give at least one whole number", field.option);
      value = std::move(list);
      break;
    }
    case FieldKind::path:
    case FieldKind::word:
      require_once(field, values);
      value = values.front();
      break;
  }
}

void Request::set(const Field& field, Matrix matrix) {
  std::vector<MatrixFile> files(1);
  files.front().matrix = std::move(matrix);
  values_.insert_or_assign(std::string(field.name), std::move(files));
}

bool Request::has_source() const {
  return std::ranges::any_of(sources, [&](std::string_view name) { return has(name); });
}

void Request::leave_out(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
  }
}

void Request::override_with(const Request& other) {
  // What belongs to the field that is replaced goes with it: the words of other embeddings, the lengths of
  // other sentences, the scale of another scoring function.
  constexpr std::pair<std::string_view, std::string_view> belongings[] = {
      {"text", "x"},
      {"text", "tokens"},
      {"text", "valid_length"},
      {"text", "mask"},
      {"x", "text"},
      {"x", "tokens"},
      {"x", "valid_length"},
      {"x", "mask"},
      {"score", "scale"},
      {"score", "score_sigma"},
      {"memory_text", "memory"},
      {"memory_text", "key_tokens"},
      {"memory", "memory_text"},
      {"no_feed_forward", "d_ff"},
      {"no_feed_forward", "w_1"},
      {"no_feed_forward", "b_1"},
      {"no_feed_forward", "w_2"},
      {"no_feed_forward", "b_2"},
      {"d_ff", "no_feed_forward"},
      {"w_1", "no_feed_forward"},
      {"w_2", "no_feed_forward"},
      {"d_ff", "w_1"},
      {"d_ff", "b_1"},
      {"d_ff", "w_2"},
      {"w_1", "d_ff"},
      {"w_2", "d_ff"},
  };
  for (const auto& [given, replaced] : belongings) {
    const auto found = values_.find(replaced);
    if (other.has(given) && found != values_.end()) values_.erase(found);
  }
  for (const auto& [name, value] : other.values_) values_.insert_or_assign(name, value);
  std::erase_if(drawn, [&](const std::string& name) { return other.has(name) || !has(name); });
}

}  // namespace attn
