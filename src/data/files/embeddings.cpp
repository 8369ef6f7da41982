#include "data/files/embeddings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/file_access.hpp"
#include "data/files/input_report.hpp"

namespace attn {

namespace {

// A line of a text file, without its end.
struct VectorLine {
  std::string_view text;
  std::size_t number;
  bool cut_short;  // the line goes on, but is longer than any line that is read
};

// Reads a file of any length line by line in memory of a fixed size.
class VectorLineReader {
 public:
  explicit VectorLineReader(const std::string& path);

  /// The next line, valid until the following call, or nothing at the end. Throws InputError when reading
  /// fails.
  std::optional<VectorLine> next();

  /// No line is read further than this.
  static constexpr std::size_t longest_line = std::size_t{1} << 20;

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  bool refill();
  void skip_to_line_end();

  std::string path_;
  File file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // what has been read but not handed out lies from here
  std::size_t end_ = 0;    // to here
  std::size_t number_ = 0;
  bool skip_ = false;  // the line handed out last was cut short
};

VectorLineReader::VectorLineReader(const std::string& path)
    : path_(path), file_(open_file(path)), buffer_(longest_line, '\0') {
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // the buffer here serves
}

std::optional<VectorLine> VectorLineReader::next() {
  if (skip_) skip_to_line_end();
  std::size_t length = rest().find('\n');
  while (length == std::string_view::npos && refill()) length = rest().find('\n');
  if (begin_ == end_) return std::nullopt;
  ++number_;
  skip_ = length == std::string_view::npos && rest().size() == buffer_.size();
  std::string_view text = rest().substr(0, length);
  begin_ = length == std::string_view::npos ? end_ : begin_ + length + 1;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (number_ == 1) text = without_byte_order_mark(text);
  return VectorLine{text, number_, skip_};
}

// Reads on behind what is left. False when the buffer is full or the file has ended.
bool VectorLineReader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  const std::size_t came = read_some(file_.get(), buffer_.data() + end_, buffer_.size() - end_, path_);
  end_ += came;
  return came > 0;
}

void VectorLineReader::skip_to_line_end() {
  skip_ = false;
  for (;;) {
    const std::size_t length = rest().find('\n');
    if (length != std::string_view::npos) {
      begin_ += length + 1;
      return;
    }
    begin_ = end_;
    if (!refill()) return;
  }
}

constexpr std::string_view blanks = " \t";

// Cuts the first field off a line.
std::string_view take_field(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
  const std::string_view field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

std::size_t count_fields(std::string_view line) {
  std::size_t count = 0;
  while (!take_field(line).empty()) ++count;
  return count;
}

// The second number of a line that is nothing but two whole ones: a header of word2vec gives the numbers of words and
// of columns, and a word and its only number may look the same.
std::optional<std::size_t> second_of_two_counts(std::string_view line) {
  const std::optional<std::size_t> first = parse_number<std::size_t>(take_field(line));
  const std::optional<std::size_t> second = parse_number<std::size_t>(take_field(line));
  return first && second && take_field(line).empty() ? second : std::nullopt;
}

std::string lower_case(std::string word) {
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return word;
}

struct ViewHash : std::hash<std::string_view> {
  using is_transparent = void;
};

// The vectors that are wanted and, as the file goes by, those that were found.
class WantedVectors {
 public:
  WantedVectors(const std::string& path, const std::vector<std::string>& words) : path_(path), words_(words) {
    for (const std::string& word : words) vectors_[lower_case(word)];
    for (const std::string& word : words) vectors_[word].as_written = true;
    missing_ = static_cast<std::size_t>(
        std::ranges::count_if(vectors_, [](const auto& entry) { return entry.second.as_written; }));
  }

  void look_at(const VectorLine& line);
  /// No line comes behind those that were looked at.
  void finish();
  /// Every word was found as written: nothing further down the file can change the outcome.
  bool complete() const { return missing_ == 0; }
  Matrix vectors() const;
  std::vector<Assumption> assumptions() const;

 private:
  struct Vector {
    std::vector<double> numbers;  // empty until the word has been found
    bool as_written = false;      // and not only the lower case of a word
  };
  using Vectors = std::unordered_map<std::string, Vector, ViewHash, std::equal_to<>>;

  void tell_header_apart(const VectorLine& second);
  void take(const VectorLine& line);
  void measure(const VectorLine& line);
  void keep(Vector& vector, const VectorLine& line, std::string_view numbers);
  double number(std::string_view field, const VectorLine& line) const;
  const std::vector<double>& vector_of(const std::string& word) const;

  const std::string& path_;
  const std::vector<std::string>& words_;
  Vectors vectors_;
  std::optional<std::string> maybe_header_;  // the first line, until the next one tells what it is
  std::vector<Assumption> about_header_;
  std::size_t lines_with_words_ = 0;
  std::size_t columns_ = 0;
  std::size_t missing_ = 0;
  std::string twice_;  // the first word that came again
};

void WantedVectors::look_at(const VectorLine& line) {
  if (line.number == 1 && second_of_two_counts(line.text)) {
    maybe_header_ = line.text;
    return;
  }
  if (line.text.find_first_not_of(blanks) == std::string_view::npos) return;
  if (maybe_header_) tell_header_apart(line);
  take(line);
}

// A header says how many numbers the vectors have. One line alone is a word: a header has vectors below it.
void WantedVectors::tell_header_apart(const VectorLine& second) {
  const std::string first = *std::exchange(maybe_header_, std::nullopt);
  const std::size_t said = *second_of_two_counts(first),
                    columns = second.cut_short ? said : count_fields(second.text) - 1;
  if (said != columns && columns == 1) return take({first, 1, false});
  if (said != columns && columns > 1) {
    fail("{}:1: {} would be a header for vectors of {}, and the next line has {}: correct it, or leave it out", path_,
         in_quotes(first), count_of(said, "number"), columns);
  }
  if (columns == 1) {
    fail(
        "{}:1: {} may be a header, or a word and its number: leave it out if it is a header, or write the number with decimals, such as 1.0",
        path_, in_quotes(first));
  }
  about_header_ = {{&assumed::header, fmt::format("the first line, {}, is a header", in_quotes(first))}};
}

void WantedVectors::finish() {
  if (const std::optional<std::string> only = std::exchange(maybe_header_, std::nullopt)) take({*only, 1, false});
}

void WantedVectors::take(const VectorLine& line) {
  std::string_view numbers = line.text;
  const std::string_view word = take_field(numbers);
  ++lines_with_words_;
  if (columns_ == 0) measure(line);
  const auto found = vectors_.find(word);
  if (found == vectors_.end()) return;
  if (found->second.numbers.empty()) return keep(found->second, line, numbers);
  if (twice_.empty()) twice_ = word;
}

// The first line says how many numbers belong to a word.
void WantedVectors::measure(const VectorLine& line) {
  if (!line.cut_short) columns_ = count_fields(line.text) - 1;
  if (columns_ == 0) {
    fail("{}:{}: a word and its numbers are expected: give a file in the GloVe text format", path_, line.number);
  }
}

void WantedVectors::keep(Vector& vector, const VectorLine& line, std::string_view numbers) {
  if (line.cut_short) {
    fail("{}:{}: this line is longer than {} bytes: give a file in the GloVe text format", path_, line.number,
         line.text.size());
  }
  const std::size_t count = count_fields(numbers);
  // Some files have words with blanks in them, such as ". . .": then this is another word's line.
  std::string_view rest = numbers;
  if (count > columns_ && parse_cell(take_field(rest)).kind == CellKind::text) return;
  if (count != columns_) {
    fail("{}:{}: this line has {}, the first has {}: every word needs the same number", path_, line.number,
         count_of(count, "number"), columns_);
  }
  for (std::size_t i = 0; i < count; ++i) vector.numbers.push_back(number(take_field(numbers), line));
  if (vector.as_written) --missing_;
}

double WantedVectors::number(std::string_view field, const VectorLine& line) const {
  const WrittenCell cell = parse_cell(field);
  if (has_value(cell) && cell.kind != CellKind::boolean) return cell.value;
  fail("{}:{}: {} {}: write a word and its numbers on each line", path_, line.number, in_quotes(field),
       cell.kind == CellKind::boolean ? "is not a number" : complaint(cell));
}

const std::vector<double>& WantedVectors::vector_of(const std::string& word) const {
  const std::vector<double>& as_written = vectors_.at(word).numbers;
  return as_written.empty() ? vectors_.at(lower_case(word)).numbers : as_written;
}

Matrix WantedVectors::vectors() const {
  if (lines_with_words_ == 0) fail("{} is empty: give a file in the GloVe text format", path_);
  for (const std::string& word : words_) {
    if (!vector_of(word).empty()) continue;
    fail("the word {} is not in {}, which has {}: choose another word or file", in_quotes(word), path_,
         count_of(lines_with_words_, "line with a word", "lines with words"));
  }
  Matrix matrix({words_.size(), columns_});
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::ranges::copy(vector_of(words_[i]), row(matrix, i).begin());
  }
  return matrix;
}

std::vector<Assumption> WantedVectors::assumptions() const {
  std::vector<Assumption> all = about_header_;
  if (!twice_.empty()) {
    all.push_back({&assumed::words,
                   fmt::format("the word {} has several lines, and the first counts", in_quotes(twice_)),
                   "to use another one, remove those before it", true});
  } else {
    all.push_back({&assumed::words, "the first line of a word counts: reading ends where all words are found"});
  }
  return all;
}

}  // namespace

Matrix read_embeddings(const std::string& path, const std::vector<std::string>& words) {
  if (words.empty()) fail("no words are given to look up in {}: give at least one", path);
  VectorLineReader reader(path);
  WantedVectors vocabulary(path, words);
  while (const std::optional<VectorLine> line = reader.next()) {
    vocabulary.look_at(*line);
    if (vocabulary.complete()) break;
  }
  vocabulary.finish();
  Matrix vectors = vocabulary.vectors();
  InputReports::tell({"--embeddings", path, to_string(vectors.shape()), vocabulary.assumptions()});
  return vectors;
}

}  // namespace attn
