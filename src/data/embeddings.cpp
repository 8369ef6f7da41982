#include "data/embeddings.hpp"

#include <algorithm>
#include <unordered_map>

#include "data/files/cell.hpp"
#include "data/files/line_reader.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

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

bool is_word2vec_header(std::string_view line) {
  const auto is_count = [](std::string_view field) {
    return !field.empty() && std::ranges::all_of(field, [](char c) { return c >= '0' && c <= '9'; });
  };
  return is_count(take_field(line)) && is_count(take_field(line)) && take_field(line).empty();
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
class Vocabulary {
 public:
  Vocabulary(const std::string& path, const std::vector<std::string>& words) : path_(path), words_(words) {
    for (const std::string& word : words) vectors_[lower_case(word)];
    for (const std::string& word : words) vectors_[word].as_written = true;
    missing_ = static_cast<std::size_t>(
        std::ranges::count_if(vectors_, [](const auto& entry) { return entry.second.as_written; }));
  }

  void look_at(const Line& line);
  /// Every word was found as written: nothing further down the file can change the outcome.
  bool complete() const { return missing_ == 0; }
  Matrix vectors() const;

 private:
  struct Vector {
    std::vector<double> numbers;  // empty until the word has been found
    bool as_written = false;      // and not only the lower case of a word
  };
  using Vectors = std::unordered_map<std::string, Vector, ViewHash, std::equal_to<>>;

  void measure(const Line& line);
  void keep(Vector& vector, const Line& line, std::string_view numbers);
  double number(std::string_view field, const Line& line) const;
  const std::vector<double>& vector_of(const std::string& word) const;

  const std::string& path_;
  const std::vector<std::string>& words_;
  Vectors vectors_;
  std::size_t words_seen_ = 0;
  std::size_t columns_ = 0;
  std::size_t missing_ = 0;
};

void Vocabulary::look_at(const Line& line) {
  if (line.number == 1 && is_word2vec_header(line.text)) return;
  std::string_view numbers = line.text;
  const std::string_view word = take_field(numbers);
  if (word.empty()) return;
  ++words_seen_;
  if (columns_ == 0) measure(line);
  const auto found = vectors_.find(word);
  if (found != vectors_.end() && found->second.numbers.empty()) keep(found->second, line, numbers);
}

// The first line says how many numbers belong to a word.
void Vocabulary::measure(const Line& line) {
  if (!line.cut_short) columns_ = count_fields(line.text) - 1;
  if (columns_ == 0) {
    fail("{}:{}: a word and its numbers are expected: give a file in the GloVe text format", path_,
         line.number);
  }
}

void Vocabulary::keep(Vector& vector, const Line& line, std::string_view numbers) {
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

double Vocabulary::number(std::string_view field, const Line& line) const {
  const WrittenCell cell = parse_cell(field);
  if (cell.kind == CellKind::number) return cell.value;
  fail("{}:{}: {} {}: write a word and its numbers on each line", path_, line.number, in_quotes(field),
       cell.kind == CellKind::boolean ? "is not a number" : complaint(cell));
}

const std::vector<double>& Vocabulary::vector_of(const std::string& word) const {
  const std::vector<double>& as_written = vectors_.at(word).numbers;
  return as_written.empty() ? vectors_.at(lower_case(word)).numbers : as_written;
}

Matrix Vocabulary::vectors() const {
  if (words_seen_ == 0) fail("{} is empty: give a file in the GloVe text format", path_);
  for (const std::string& word : words_) {
    if (!vector_of(word).empty()) continue;
    fail("the word {} is not in {}, which has {}: choose another word or file", in_quotes(word), path_,
         count_of(words_seen_, "word"));
  }
  Matrix matrix({words_.size(), columns_});
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::ranges::copy(vector_of(words_[i]), row(matrix, i).begin());
  }
  return matrix;
}

}  // namespace

Matrix read_embeddings(const std::string& path, const std::vector<std::string>& words) {
  if (words.empty()) fail("no words are given to look up in {}: give at least one", path);
  LineReader reader(path);
  Vocabulary vocabulary(path, words);
  while (const std::optional<Line> line = reader.next()) {
    vocabulary.look_at(*line);
    if (vocabulary.complete()) break;
  }
  return vocabulary.vectors();
}

}  // namespace attn
