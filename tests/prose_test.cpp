#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "commands_tried.hpp"
#include "core/attention/score.hpp"
#include "core/graph/graph.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/model_words.hpp"
#include "page/document/document.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/ranked_columns.hpp"
#include "process.hpp"
#include "school/browser/computation_page.hpp"
#include "school/lesson/lesson.hpp"
#include "school/mistake/mistake.hpp"
#include "school/training/task.hpp"
#include "texts.hpp"

using namespace attn;

// Prose that nobody runs: its numbers and counts are those of the program.

namespace {

std::string source_text(const std::string& path) { return bytes_of(ATTN_SOURCE_FOLDER "/" + path); }

// A number in a text, as it is written: "1,024", "0.88".
struct WrittenNumber {
  std::string text;
  double value;
  int decimals;
};

// Numbers that stand by themselves: not those of x_1, E1, √64 and 10⁻¹.
std::vector<WrittenNumber> numbers_in(std::string_view text) {
  constexpr std::string_view digits = "0123456789",
                             goes_on_with[] = {"·10", "⋅10", "²", "³", "⁻", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<WrittenNumber> all;
  for (std::size_t at = text.find_first_of(digits); at != std::string_view::npos; at = text.find_first_of(digits, at)) {
    const std::string_view before = text.substr(0, at);
    std::size_t end = std::min(text.find_first_not_of("0123456789,", at), text.size());
    while (text[end - 1] == ',') --end;
    const bool has_decimals = end + 1 < text.size() && text[end] == '.' && digits.find(text[end + 1]) != digits.npos;
    const std::size_t last = has_decimals ? std::min(text.find_first_not_of(digits, end + 1), text.size()) : end;
    const std::string_view after = text.substr(last);
    const bool has_more = after.size() > 1 && (after.front() == '.' || after.front() == '-') && is_of_word(after[1]);
    const bool goes_on = !before.empty() && (is_of_word(before.back()) || before.back() == '.' ||
                                             (before.back() == '-' && before.size() > 1 && is_of_word(before[at - 2])));
    const bool stands_alone =
        !goes_on && !has_more && !before.ends_with("√") && (after.empty() || !is_of_word(after.front())) &&
        std::ranges::none_of(goes_on_with, [&](std::string_view sign) { return after.starts_with(sign); });
    if (stands_alone) {
      std::string plain(text.substr(at, last - at));
      std::erase(plain, ',');
      all.push_back({std::string(text.substr(at, last - at)), std::stod(plain),
                     has_decimals ? static_cast<int>(last - end - 1) : 0});
    }
    at = last;
  }
  return all;
}

bool rounds_to(double exact, const WrittenNumber& written) {
  return std::fabs(std::fabs(exact) - written.value) <= 0.5000001 * std::pow(10.0, -written.decimals);
}

// What a number in prose may be: one that is shown, rounded; a share that is shown, in percent; or the other way.
bool is_shown(const WrittenNumber& written, const std::vector<double>& shown) {
  return std::ranges::any_of(shown, [&](double x) { return rounds_to(x, written) || rounds_to(100.0 * x, written); });
}

// The paragraphs of a document, without code and formulas, and all numbers that stand elsewhere in it: in commands,
// outputs, questions and tables.
struct Prose {
  std::vector<std::pair<std::size_t, std::string>> paragraphs;  // by line
  std::vector<double> shown;
};

Prose prose_of(const std::string& path) {
  const Document document = read_document(source_text(path), path);
  Prose prose;
  for (const MarkdownLeaf& leaf : document.leaves) {
    if (leaf.kind == MarkdownLeaf::Kind::heading) continue;
    if (leaf.kind == MarkdownLeaf::Kind::paragraph && !is_output(document, leaf.first_line)) {
      std::string text;
      for (const Text& words : leaf.words) {
        for (const Span& span : words)
          text += span.style == Span::Style::code || span.style == Span::Style::formula ? "`" : span.text;
        text += ' ';
      }
      std::ranges::replace(text, '\n', ' ');
      prose.paragraphs.emplace_back(leaf.first_line, text);
      continue;
    }
    std::string shown = leaf.text;
    for (const std::vector<std::string>& row : leaf.rows) shown += fmt::format("{}\n", fmt::join(row, " "));
    for (const Text& words : leaf.words) {
      for (const Span& span : words) shown += span.text + " ";
    }
    for (const WrittenNumber& number : numbers_in(shown)) prose.shown.push_back(number.value);
  }
  for (const Entry& entry : document.front_matter) {
    for (const WrittenNumber& number : numbers_in(entry.value)) prose.shown.push_back(number.value);
  }
  return prose;
}

// What a number in prose is, where its document does not show it.
struct Computed {
  std::string_view document, number;
  double value;
};

double cell_of(const std::string& command, std::string_view matrix, std::size_t row = 1, std::size_t column = 1) {
  return computation_of(command)->at(matrix).matrix()(row - 1, column - 1);
}

// A constant that no header has, where a source says it so.
double constant_in(const std::string& path, const std::string& says, double value) {
  REQUIRE_MESSAGE(has(source_text(path), says), path << " does not say " << says);
  return value;
}

double loss_by_hand() {
  double sum = 0.0;
  const std::shared_ptr<Graph> graph = computation_of("attn walk --example by-hand");
  for (const double x : cells(graph->at("output").matrix())) sum += x;
  return sum;
}

double squares_of_gradients_by_hand() {
  double sum = 0.0;
  const std::shared_ptr<Graph> graph = computation_of("attn backward --example by-hand");
  for (const char* name : {"d_w_q", "d_w_k", "d_w_v"}) {
    for (const double x : cells(graph->at(name).matrix())) sum += x * x;
  }
  return sum;
}

double rounded_to_tens(double x) { return 10.0 * std::round(x / 10.0); }

double minutes_of_main_road() {
  double minutes = 0.0;
  for (const Lesson& lesson : built_in_lessons())
    minutes += lesson.road == Road::main ? static_cast<double>(lesson.minutes) : 0.0;
  return minutes;
}

double parameters_of(const std::string& side) {
  double numbers = 0.0;
  const std::shared_ptr<Graph> graph = computation_of("attn transformer --size base --outline");
  for (const Node& node : graph->nodes()) {
    const bool is_parameter = !node.op && !node.is(role::ids) && !node.is(role::mask) && !node.is(role::positions);
    if (is_parameter && node.name.starts_with(side)) numbers += static_cast<double>(node.frame.shape.cells());
  }
  return numbers;
}

const std::vector<Computed>& computed() {
  static const std::vector<Computed> all = [] {
    constexpr double of_double = sizeof(double), megabyte = 1e6;
    const double in_browser = most_numbers_in_browser, in_tables = most_cells_in_browser;
    const std::string machines = "attn walk --example thinking-machines";
    const double size_of_keys = std::pow(cell_of(machines, "scores") / cell_of(machines, "scaled"), 2.0);
    const double unscaled = cell_of("attn backward --scores '112 96' --v '10; 20'", "d_scores", 1, 2),
                 scaled = cell_of("attn backward --scores '112 96' --scale 8 --v '10; 20'", "d_scores", 1, 2);
    constexpr double letters = 26.0, learning_rate = 0.1;
    return std::vector<Computed>{
        {"02-softmax-and-scaling", "2.718", std::exp(1.0)},
        {"03-self-attention", "64", size_of_keys},
        {"03-self-attention", "112", cell_of(machines, "scores", 1, 1)},
        {"03-self-attention", "96", cell_of(machines, "scores", 1, 2)},
        {"12-attention-pooling", "2.718", std::exp(1.0)},
        {"17-cost", "8,192", constant_in("src/command/cost/measure.cpp", "most = 8192;", 8192.0)},
        {"17-cost", "2,048", 8.0 * 256.0},
        {"18-errata", "2.72", std::exp(1.0)},
        {"19-long-sentences", "15",
         static_cast<double>(computation_of("attn align --example clauses")->at("encoder.1.h").frame.shape.columns)},
        {"22-gradients", "6.825", loss_by_hand() - learning_rate * squares_of_gradients_by_hand()},
        {"23-softmax-gradient", "15", cell_of("attn backward --scores '0 0' --v '10; 20'", "output")},
        {"23-softmax-gradient", "64", size_of_keys},
        {"23-softmax-gradient", "100,000", 1e5 * std::floor(scaled / unscaled / 1e5)},
        {"26-teacher-forcing", "26", letters},
        {"26-teacher-forcing", "3.30", std::log(letters + 1.0)},
        {"26-teacher-forcing", "0.19", std::exp(-1.643)},
        {"README", "170", rounded_to_tens(minutes_of_main_road())},
        {"tour", "170", rounded_to_tens(minutes_of_main_road())},
        {"tour", "2,000,000", in_browser},
        {"tour", "150,000", in_tables},
        {"formats", "6", constant_in("src/core/math/random.cpp", "std::sqrt(6.0 / ", 6.0)},
        {"formats", "100,000", constant_in("src/data/files/json.cpp", "most_members = 100'000;", 100'000.0)},
        {"formats", "16",
         constant_in("src/data/files/safetensors.cpp", "longest_header = std::uint64_t{1} << 24;", 16.0)},
        {"formats", "262,144", most_pairs},
        {"formats", "32,768", most_trained_words},
        {"formats", "2,000,000", in_browser},
        {"formats", "150,000", in_tables},
        {"formats", "4,000", static_cast<double>(most_cells_of_table)},
        {"formats", "8", static_cast<double>(terms_of_long_sum)},
        {"formats", "256", static_cast<double>(most_ranked_columns)},
        {"formats", "32", 8.0 * sizeof(float)},
        {"formats", "64", 8.0 * sizeof(double)},
        {"formats", "80", constant_in("src/page/render/style.hpp", "80 without one", 80.0)},
        {"lessons", "85", constant_in("src/school/lesson/lesson_page.cpp", "most_live_matrices = 85,", 85.0)},
        {"lessons", "4,000", constant_in("src/core/math/random.cpp", "work_of_generator = 4000;", 4000.0)},
        {"lessons", "180", usual_pace.words_per_minute},
        {"lessons", "0.35", usual_pace.table},
        {"performance", "44,145,157", parameters_of("")},
        {"performance", "353", parameters_of("") * of_double / megabyte},
        {"performance", "202", parameters_of("decoder") * of_double / megabyte},
        {"changes", "33", static_cast<double>(lesson_files().size())},
        {"changes", "320", 10.0 * std::floor(static_cast<double>(mistakes().size() - 1) / 10.0)},
    };
  }();
  return all;
}

// Years of papers, releases of other programs, and other numbers that are names.
bool is_name(const std::string& text, const WrittenNumber& number) {
  const std::regex names(
      R"((et al\.|LeVeque|Stenzel|Shazeer|Sennrich|Gimpel|Wolf|OLMo|recipe of|Debian|g\+\+|clang|CMake|OpenBLAS|NumPy|PyTorch|Linux|chapter|section|lesson|code) \(?)" +
      number.text + "(?![0-9])");
  return number.text.find(',') == std::string::npos && std::regex_search(text, names);
}

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

void check_numbers(const std::string& path) {
  const Prose prose = prose_of(path);
  std::set<const Computed*> used;
  for (const auto& paragraph : prose.paragraphs) {
    const std::size_t line = paragraph.first;
    const std::string& text = paragraph.second;
    for (const WrittenNumber& number : numbers_in(text)) {
      if (is_shown(number, prose.shown) || is_name(text, number)) continue;
      const auto row = std::ranges::find_if(
          computed(), [&](const Computed& one) { return one.document == stem_of(path) && one.number == number.text; });
      CHECK_MESSAGE(row != computed().end(), path << ":" << line << ": nothing shows " << number.text << ": " << text);
      if (row == computed().end()) continue;
      used.insert(&*row);
      CHECK_MESSAGE(rounds_to(row->value, number), path << ":" << line << ": " << number.text << " is " << row->value);
    }
  }
  for (const Computed& row : computed()) {
    if (row.document == stem_of(path)) CHECK_MESSAGE(used.contains(&row), row.document << ": " << row.number);
  }
}

}  // namespace

TEST_CASE("a number in the prose of a lesson is one that the lesson shows") {
  std::size_t lessons = 0;
  for (const LessonFile& file : lesson_files()) {
    check_numbers(std::string(file.path));
    ++lessons;
  }
  CHECK(lessons > 20);
}

TEST_CASE("a number in the prose of a document is one that the document shows") {
  for (const char* path : {"README.md", "docs/tour.md", "docs/reference.md", "docs/formats.md", "docs/lessons.md",
                           "docs/performance.md", "docs/xtensor.md", "docs/changes.md", "docs/coverage.md"}) {
    check_numbers(path);
  }
}

namespace {

// What documents count, in the words that they use, and how many there are.
struct Counted {
  std::string_view noun;
  std::size_t count;
};

const std::vector<Counted>& counted() {
  static const std::vector<Counted> all = [] {
    const std::vector<Lesson> lessons = built_in_lessons();
    const auto on = [&](Road road) {
      return static_cast<std::size_t>(std::ranges::count(lessons, road, &Lesson::road));
    };
    const auto has_own_data = [](const Task& task) { return !task.needs_pairs && !task.learns_text; };
    const auto is_trained = [](const ModelExample& model) { return !model.bytes.starts_with('{'); };
    return std::vector<Counted>{
        {"lessons", on(Road::main)},
        {"side roads", on(Road::side)},
        {"are side roads", on(Road::side)},
        {"scoring functions", scoring_functions().size()},
        {"tasks", static_cast<std::size_t>(std::ranges::count_if(tasks(), has_own_data))},
        {"models are", static_cast<std::size_t>(std::ranges::count_if(compiled_in_models(), is_trained))},
    };
  }();
  return all;
}

const std::vector<std::string>& number_words() {
  static const std::vector<std::string> words = {
      "zero",       "one",        "two",          "three",       "four",       "five",     "six",
      "seven",      "eight",      "nine",         "ten",         "eleven",     "twelve",   "thirteen",
      "fourteen",   "fifteen",    "sixteen",      "seventeen",   "eighteen",   "nineteen", "twenty",
      "twenty-one", "twenty-two", "twenty-three", "twenty-four", "twenty-five"};
  return words;
}

}  // namespace

TEST_CASE("documents count lessons, tasks and other things as they are") {
  std::set<std::string_view> found;
  for (const char* path : {"README.md", "docs/tour.md", "docs/changes.md", "docs/lessons.md", "docs/formats.md"}) {
    for (const auto& paragraph : prose_of(path).paragraphs) {
      const std::string text = in_lower_case(paragraph.second);
      for (const Counted& row : counted()) {
        for (std::size_t n = 2; n < number_words().size(); ++n) {
          const std::string said = fmt::format(" {} {}", number_words()[n], row.noun);
          if (!has(" " + text, said)) continue;
          CHECK_MESSAGE(n == row.count,
                        path << ":" << paragraph.first << ":" << said << ", and there are " << row.count);
          found.insert(row.noun);
        }
      }
    }
  }
  CHECK(found.size() == counted().size());
}

// --- examples

namespace {

// "column 3", "columns 3 and 4": a place that there is.
bool is_place(const std::string& text, const WrittenNumber& number, double largest) {
  const std::regex place("([Cc]olumns?|[Rr]ows?|head) ([0-9]+ (and|to) )?" + number.text + "(?![0-9])");
  return number.value >= 1.0 && number.value <= largest && std::regex_search(text, place);
}

}  // namespace

TEST_CASE("the numbers that an example tells of itself are those of its computation") {
  std::size_t numbers = 0;
  const auto check = [&](const std::string& command, std::string_view name, std::string_view json) {
    if (!json.starts_with('{')) return;  // the words on a trained model are made by its training
    const Json about = parse_json(json, std::string(name)).value("about", Json::array());
    const std::shared_ptr<Graph> graph = computation_of(fmt::format("attn {} {}", command, name));
    std::vector<double> shown;
    double largest = 0.0;
    for (const Node& node : graph->nodes()) {
      const Shape shape = node.frame.shape;
      largest = std::max(largest, static_cast<double>(std::max(shape.rows, shape.columns)));
      shown.insert(shown.end(), {static_cast<double>(shape.rows), static_cast<double>(shape.columns)});
      if (const Scalar* const scalar = node.op ? node.find(setting::number) : nullptr)
        shown.insert(shown.end(), {scalar->value, scalar->value * scalar->value});
      if (shape.cells() > 100'000) continue;
      for (const double x : cells(node.matrix())) shown.push_back(x);
    }
    for (const Json& one : about) {
      const std::string paragraph = one.get<std::string>();
      for (const WrittenNumber& number : numbers_in(paragraph)) {
        CHECK_MESSAGE((is_shown(number, shown) || is_place(paragraph, number, largest)),
                      name << ": " << number.text << ": " << paragraph);
        ++numbers;
      }
    }
  };
  for (const Example& example : examples()) check("walk --example", example.name, example.json);
  for (const ModelExample& model : model_examples()) check("transformer --model", model.name, model.bytes);
  for (const ModelExample& model : alignment_examples()) check("align --example", model.name, model.bytes);
  CHECK(numbers > 40);
}
