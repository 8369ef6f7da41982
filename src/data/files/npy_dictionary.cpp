#include "data/files/npy_dictionary.hpp"

#include <charconv>
#include <cstdint>

#include "support/error.hpp"

namespace attn {

void NpyDictionary::read() {
  expect('{');
  while (!take('}')) {
    read_member();
    if (take(',')) continue;
    expect('}');
    break;
  }
  skip_blanks();
  if (at_ != text_.size() || !seen_descr_ || !seen_order_ || !seen_shape_) damaged();
}

void NpyDictionary::read_member() {
  skip_blanks();
  const std::string_view key = read_string();
  expect(':');
  skip_blanks();
  if (key == "descr" && !seen_descr_) {
    seen_descr_ = true;
    descr = read_descr();
  } else if (key == "fortran_order" && !seen_order_) {
    seen_order_ = true;
    fortran_order = read_bool();
  } else if (key == "shape" && !seen_shape_) {
    seen_shape_ = true;
    const std::size_t begin = at_;
    shape = read_tuple();
    shape_text = text_.substr(begin, at_ - begin);
  } else {
    damaged();
  }
}

std::string_view NpyDictionary::read_string() {
  if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) damaged();
  const std::size_t begin = at_ + 1;
  const std::size_t end = text_.find(text_[at_], begin);
  if (end == std::string_view::npos) damaged();
  const std::string_view string = text_.substr(begin, end - begin);
  if (string.find('\\') != std::string_view::npos) damaged();
  at_ = end + 1;
  return string;
}

std::string_view NpyDictionary::read_descr() {
  return at_ < text_.size() && text_[at_] == '[' ? read_structure() : read_string();
}

// A type made of parts is a list of tuples; it is only read to be named in the refusal.
std::string_view NpyDictionary::read_structure() {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  do {
    if (at_ >= text_.size()) damaged();
    const char c = text_[at_];
    if (c == '\'' || c == '"') {
      read_string();
      continue;
    }
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    ++at_;
  } while (depth > 0);
  return text_.substr(begin, at_ - begin);
}

bool NpyDictionary::read_bool() {
  for (const std::string_view word : {"True", "False"}) {
    if (!text_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return word == "True";
  }
  damaged();
}

std::vector<std::size_t> NpyDictionary::read_tuple() {
  std::vector<std::size_t> sizes;
  bool comma = false;
  expect('(');
  while (!take(')')) {
    skip_blanks();
    sizes.push_back(read_size());
    comma = take(',');
    if (comma) continue;
    expect(')');
    break;
  }
  // Without a comma, (3) is a number in brackets.
  if (sizes.size() == 1 && !comma) damaged();
  return sizes;
}

std::size_t NpyDictionary::read_size() {
  std::uint64_t size = 0;
  const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
  if (error == std::errc::invalid_argument) damaged();
  at_ = static_cast<std::size_t>(stop - text_.data());
  return error == std::errc() ? size : SIZE_MAX;  // refused later, as more than a matrix may have
}

void NpyDictionary::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
}

bool NpyDictionary::take(char c) {
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void NpyDictionary::expect(char c) {
  if (!take(c)) damaged();
}

void NpyDictionary::damaged() const {
  fail("the header of the NumPy array {} is damaged at character {}: save the array again with numpy.save",
       where_, at_ + 1);
}

}  // namespace attn
