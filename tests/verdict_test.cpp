#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "commands_tried.hpp"
#include "data/files/npz.hpp"
#include "draws.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "school/mistake/comparison.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// --- files in every format, as others write them

std::string rows_of_text(const Matrix& matrix, const std::function<std::string(double)>& written, char separator) {
  std::string text;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      if (j > 0) text += separator;
      text += written(matrix(i, j));
    }
    text += '\n';
  }
  return text;
}

std::string json_of(const Matrix& matrix, int decimals) {
  std::string text = "{\"output\": [";
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    text += i > 0 ? ", [" : "[";
    for (std::size_t j = 0; j < matrix.shape().columns; ++j)
      text += fmt::format("{}{:.{}f}", j > 0 ? ", " : "", matrix(i, j), decimals);
    text += ']';
  }
  return text + "]}";
}

template <class Word>
void append_little_endian(std::string& bytes, Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes += static_cast<char>(word >> (8 * i) & 0xFFU);
}

// The bits of a number that a type of 16 bits holds.
std::uint16_t bits_of_float16(double x) {
  const unsigned sign = std::signbit(x) ? 0x8000U : 0U;
  if (x == 0.0) return static_cast<std::uint16_t>(sign);
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(x), &exponent);
  if (exponent - 1 < -14) return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(std::fabs(x), 24)));
  const auto fraction = static_cast<unsigned>(std::ldexp(mantissa, 11)) & 0x3FFU;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent - 1 + 15) << 10U | fraction);
}

std::string elements_of(const Matrix& matrix, Precision type) {
  std::string bytes;
  for (const double x : cells(matrix)) {
    const double held = rounded_to(type, x);
    switch (type) {
      case Precision::float32:
        append_little_endian(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(held)));
        break;
      case Precision::float16:
        append_little_endian(bytes, bits_of_float16(held));
        break;
      case Precision::bfloat16:
        append_little_endian(bytes,
                             static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(held)) >> 16U));
        break;
      default:
        append_little_endian(bytes, std::bit_cast<std::uint64_t>(held));
    }
  }
  return bytes;
}

std::string npy_of(const Matrix& matrix, Precision type) {
  const std::string_view name = type == Precision::float32 ? "<f4" : type == Precision::float16 ? "<f2" : "<f8";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}\n", name,
                                   matrix.shape().rows, matrix.shape().columns);
  std::string bytes = "\x93NUMPY";
  bytes += {'\x01', '\x00'};
  append_little_endian(bytes, static_cast<std::uint16_t>(header.size()));
  return bytes + header + elements_of(matrix, type);
}

std::string safetensors_of(const Matrix& matrix, Precision type) {
  const std::string_view name = type == Precision::float32    ? "F32"
                                : type == Precision::float16  ? "F16"
                                : type == Precision::bfloat16 ? "BF16"
                                                              : "F64";
  const std::string elements = elements_of(matrix, type);
  const std::string header = fmt::format(R"({{"output":{{"dtype":"{}","shape":[{},{}],"data_offsets":[0,{}]}}}})", name,
                                         matrix.shape().rows, matrix.shape().columns, elements.size());
  std::string bytes;
  append_little_endian(bytes, static_cast<std::uint64_t>(header.size()));
  return bytes + header + elements;
}

struct Kind {
  std::string name;  // of the file
  std::function<std::string(const Matrix& matrix)> bytes;
  double largest = 1000.0;  // of numbers whose rounding can be seen
};

std::vector<Kind> texts_with_decimals() {
  std::vector<Kind> all;
  for (const int decimals : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
    const auto fixed = [=](double x) { return fmt::format("{:.{}f}", x, decimals); };
    all.push_back({"output.csv", [=](const Matrix& matrix) { return rows_of_text(matrix, fixed, ','); }});
    all.push_back({"output.tsv", [=](const Matrix& matrix) { return rows_of_text(matrix, fixed, '\t'); }});
    all.push_back({"output.json", [=](const Matrix& matrix) { return json_of(matrix, decimals); }});
  }
  return all;
}

std::vector<Kind> texts_with_digits() {
  std::vector<Kind> all;
  for (const int digits : {2, 3, 4, 5, 6, 8}) {
    all.push_back({"output.csv", [=](const Matrix& matrix) {
                     return rows_of_text(
                         matrix, [&](double x) { return fmt::format("{:.{}e}", x, digits - 1); }, ',');
                   }});
    if (digits < 3) continue;  // so few digits may be decimals without their zeros
    all.push_back({"output.csv",
                   [=](const Matrix& matrix) {
                     return rows_of_text(
                         matrix, [&](double x) { return fmt::format("{:.{}g}", x, digits); }, ' ');
                   },
                   digits < 5 ? 10.0 : 1000.0});
  }
  return all;
}

std::vector<Kind> types() {
  std::vector<Kind> all;
  for (const Precision type : {Precision::float64, Precision::float32, Precision::float16}) {
    all.push_back({"output.npy", [=](const Matrix& matrix) { return npy_of(matrix, type); }});
    all.push_back({"output.safetensors", [=](const Matrix& matrix) { return safetensors_of(matrix, type); }});
  }
  all.push_back(
      {"output.safetensors", [](const Matrix& matrix) { return safetensors_of(matrix, Precision::bfloat16); }});
  all.push_back({"output.npz", [](const Matrix& matrix) {
                   return written_by([&](Sink& sink) { write_npz({{"output", &matrix}}, sink); });
                 }});
  return all;
}

// --- what the page says, and how far a number may be off by its words

struct Stated {
  int decimals = -1, digits = -1;
  std::string type;
  double apart = 0.0;  // of numbers that were computed in a type
};

// "They are compared to 6 decimals and at most 5 significant digits."
Stated stated_on(const std::string& page) {
  constexpr std::string_view begin = "They are compared ";
  const std::size_t at = page.find(begin);
  REQUIRE_MESSAGE(at != std::string::npos, page);
  std::istringstream words(page.substr(at + begin.size()));
  Stated stated;
  std::string word;
  words >> word;
  if (word == "as") {
    words >> stated.type;
    if (stated.type == "computed") {
      words >> word >> stated.type >> word >> word >> word >> word >>
          stated.apart;  // "in float16, where numbers may be"
      return stated;
    }
    stated.type.resize(stated.type.find('.'));
    return stated;
  }
  REQUIRE(word == "to");
  words >> stated.decimals >> word;
  if (word.starts_with("decimal") && !word.ends_with('.')) {
    words >> word >> word >> word >> stated.digits;
    REQUIRE(word == "most");
  }
  return stated;
}

// As docs/formats.md says.
double most_apart(const Stated& stated, double theirs, double largest) {
  if (stated.apart > 0.0) return stated.apart;
  if (!stated.type.empty()) {
    constexpr std::pair<std::string_view, std::pair<double, double>> parts[] = {
        {"float64", {1e-9, 1e-12}}, {"float32", {1e-5, 1e-7}}, {"float16", {4e-3, 1e-5}}, {"bfloat16", {3e-2, 1e-4}}};
    const auto row = std::ranges::find(parts, stated.type, [](const auto& one) { return one.first; });
    REQUIRE(row != std::end(parts));
    return std::max(row->second.first * largest, row->second.second);
  }
  double unit = std::pow(10.0, -stated.decimals);
  if (stated.digits > 0 && theirs != 0.0)
    unit = std::max(unit, std::pow(10.0, std::floor(std::log10(std::fabs(theirs))) + 1 - stated.digits));
  return 0.5 * unit;
}

class Tried {
 public:
  Tried()
      : weights_(folder_.write("weights.npy", npy_of(matrix({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), Precision::float64))) {}

  // What a file says, beside right numbers: the output of weights that are 1 for one value each.
  std::string page(const std::string& file, const Matrix& right, Verdict expected) {
    const std::string values = folder_.write("v.npy", npy_of(right, Precision::float64));
    Words line = {"check", file, "--weights", weights_, "--v", values, "--only", "output", "--strict"};
    if (!file.ends_with(".json") && !file.ends_with(".npz") && !file.ends_with(".safetensors"))
      line.insert(line.end(), {"--as", "output"});
    const AnswerInFormat answer = attn::answer(line, bare_environment());
    const std::string text = in_one_line(written(answer));
    CHECK_MESSAGE(answer.verdict == expected, text << "\n" << ::bytes_of(file));
    ++count;
    return text;
  }

  // Random numbers of some sizes, with zeros, written in a format: first right ones, then with one of them just
  // nearer and just farther than the page says.
  void perturb(const Kind& kind, std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::uniform_int_distribution<std::size_t> place(1, 11);
    for (const double size : {1.0, 10.0, 1000.0, 0.0}) {
      if (size > kind.largest) continue;
      Matrix right = filled({3, 4}, [&] {
        const double x = uniform(random);
        return std::fabs(x) < 0.1 ? 0.0 : size * x * (std::fabs(x) < 0.3 ? 0.01 : 1.0);
      });
      cells(right)[0] = size;
      const std::string file = folder_.write(kind.name, kind.bytes(right));
      const std::string said = page(file, right, Verdict::passed);
      const Stated stated = stated_on(said);
      const Matrix theirs = read_matrix(kind.name.ends_with(".npy") || !kind.name.starts_with("output.") ||
                                                kind.name.ends_with(".csv") || kind.name.ends_with(".tsv")
                                            ? file
                                            : file + ":output")
                                .matrix;
      for (const double factor : {0.99, 1.01}) {
        Matrix other = right;
        const std::size_t i = place(random);
        const double sign = cells(right)[i] > 0.0 ? -1.0 : 1.0;  // so that the largest number stays
        const double apart = most_apart(stated, cells(theirs)[i], size);
        cells(other)[i] = cells(theirs)[i] + sign * factor * apart;
        const std::string again = page(file, other, factor < 1.0 ? Verdict::passed : Verdict::failed);
        CHECK(stated_on(again).decimals == stated.decimals);
        if (factor > 1.0) check_has(again, "differs in 1 of 12");
      }
    }
  }

  std::size_t count = 0;

 private:
  TemporaryFolder folder_;
  std::string weights_;
};

void check_verdicts(const std::vector<Kind>& kinds, std::size_t few, std::size_t all) {
  Tried tried;
  for (unsigned seed = 1; seed <= drawn(few, all); ++seed) {
    std::mt19937 random(seed);
    for (const Kind& kind : kinds) {
      CAPTURE(seed);
      CAPTURE(kind.name);
      tried.perturb(kind, random);
    }
  }
  MESSAGE(tried.count, " verdicts");
}

TEST_SUITE("verdicts of attn check") {
  TEST_CASE("a number of a text is right just within half a unit of its decimals and differs just beyond") {
    check_verdicts(texts_with_decimals(), 1, 40);
  }

  TEST_CASE("a number of a text that was cut at digits is right just within what the page says") {
    check_verdicts(texts_with_digits(), 2, 80);
  }

  TEST_CASE("a number of a type is right just within what the page says and differs just beyond") {
    check_verdicts(types(), 2, 80);
  }

  TEST_CASE("a text is compared at the decimals that it has") {
    const TemporaryFolder folder;
    const auto result = [&](const std::string& text, const Words& problem, int code) {
      const ProcessResult finished =
          run_attn(Words{"check", folder.write("w.csv", text), "--strict", "--as"} + problem);
      CHECK_MESSAGE(finished.code == code, finished.out << finished.errors);
      return in_one_line(finished.out);
    };
    check_has(result("0.7\n", {"weights", "--scores", "5"}, 1), "to 1 decimal.");
    check_has(result("9.5\n", {"output", "--weights", "1", "--v", "10"}, 1), "to 1 decimal.");
    check_has(result("0.5,0\n", {"weights", "--scores", "1000 0"}, 1), "differs in 1 of 2");
    check_has(result("0.6,0.4\n", {"weights", "--scores", "1000 0"}, 1), "differs in 2 of 2");
    check_lacks(result("0.5,0.5\n", {"weights", "--scores", "1 3"}, 1), "weights that are all 1");
    check_has(result("0.50,0.50\n", {"weights", "--scores", "0.1 0"}, 1), "to 2 decimals.");
    check_has(result("1.00,0.00\n", {"weights", "--scores", "6 0"}, 0), "to 2 decimals.");
    check_has(result("1,0\n", {"weights", "--scores", "6 0"}, 1), "as float64.");
    check_has(result("7.31e-01,2.69e-01\n", {"weights", "--scores", "1 0"}, 0),
              "to 3 decimals and at most 3 significant digits.");
  }

  TEST_CASE("the shortest decimals of numbers of 16 bits are compared as float16") {
    const TemporaryFolder folder;
    const std::string scores =
        folder.write("scores.csv", "0.3,1.1,0.2,-1.4\n-0.7,0.4,1.9,0.8\n1.2,-0.1,0.6,2.3\n0.5,0.9,-1.1,0.1\n");
    const auto page = [&](const std::string& text) {
      return run_attn({"check", folder.write("w.csv", text), "--strict", "--as", "weights", "--scores", scores});
    };
    // What str() makes of np.float16.
    const std::string first = "0.2318,0.516,0.2098,0.04236\n", third = "0.2073,0.0565,0.1137,0.6226\n",
                      fourth = "0.2974,0.4434,0.06003,0.1992\n";
    const ProcessResult same = page(first + "0.04556,0.1368,0.6133,0.2042\n" + third + fourth);
    CHECK(same.code == 0);
    check_has(same.out, "as float16.");
    const ProcessResult differs = page(first + "0.04556,0.1399,0.6133,0.2042\n" + third + fourth);
    CHECK(differs.code == 1);
    check_has(differs.out, "differs in 1 of 16");
    // The same at four decimals is no type.
    check_has(page(first + "0.0456,0.1368,0.6133,0.2042\n" + third + "0.2974,0.4435,0.0600,0.1992\n").out, "decimals");
  }

  TEST_CASE("few numbers that were rounded before they were stored are compared at their decimals") {
    const TemporaryFolder folder;
    const auto page = [&](const Matrix& weights, Precision type) {
      return run_attn({"check", folder.write("w.npy", npy_of(weights, type)), "--strict", "--as", "weights", "--scores",
                       "0 9 0; -9 0 3.9; 9 0 0"});
    };
    for (const Precision type : {Precision::float64, Precision::float32}) {
      const ProcessResult same = page(matrix({{0, 1, 0}, {0, 0.02, 0.98}, {1, 0, 0}}), type);
      CHECK(same.code == 0);
      check_has(same.out, "to 2 decimals.");
      CHECK(page(matrix({{0, 1, 0}, {0, 0.03, 0.97}, {1, 0, 0}}), type).code == 1);
      // Short numbers may be exact.
      check_has(page(matrix({{0, 1, 0}, {0.25, 0, 0.75}, {1, 0, 0}}), type).out,
                fmt::format("as {}.", number_type(type).name));
    }
  }

  TEST_CASE("JSON without decimals in one matrix is compared at the decimals of the others") {
    const TemporaryFolder folder;
    const auto code = [&](const std::string& mean) {
      return run_attn(
                 {"check",
                  folder.write("a.json", R"({"x": [[1.5, -1.25, -0.249], [0.3, 0.333, -0.632], [0.117, -0.2, 0.084]],
                                              "mean": )" +
                                             mean + "}"),
                  "layer-norm", "--strict"})
          .code;
    };
    CHECK(code("[[0.0], [0.0], [0.0]]") == 0);  // each is 0.0003
    CHECK(code("[[0.0], [0.001], [0.0]]") == 1);
    CHECK(code("[[0], [0], [0]]") == 1);
    CHECK(code("[[0.0], [1.0], [0.0]]") == 1);
  }

  TEST_CASE("numbers of 32 bits that were written with all their decimals are compared as float32") {
    const TemporaryFolder folder;
    const auto said = [&](const std::string& text) {
      const ProcessResult finished =
          run_attn({"check", folder.write("w.csv", text), "--as", "weights", "--scores", "1 0; 0 2"});
      CHECK_MESSAGE(finished.code == 0, finished.out << finished.errors);
      return in_one_line(finished.out);
    };
    check_has(said("0.7310586,0.26894143\n0.11920293,0.880797\n"), "as float32.");
    check_has(said("0.7311,0.2689\n0.1192,0.8808\n"), "to 4 decimals.");
    check_has(said("0.7310585786,0.2689414214\n0.1192029220,0.8807970780\n"), "as float64.");
  }
}

}  // namespace
