#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/model/encoder_decoder.hpp"
#include "core/support/text.hpp"
#include "school/training/task.hpp"

namespace attn {

namespace {

constexpr std::string_view about_dates[] = {
    "A date in words, in one of three forms, is written in digits: year, month, day. "
    "The parts stand in another order than in the sentence, and the words of one part are one, two or three.",
    "A recurrent network reads the sentence word by word. "
    "Without attention its final state must hold all of it. "
    "With attention each digit can attend to the words that it is made of, so the alignment can be read: which words each digit attends to.",
};

const std::array<std::string, 10> ones = {"zero", "one", "two",   "three", "four",
                                          "five", "six", "seven", "eight", "nine"};
const std::array<std::string, 10> teens = {"ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                           "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
const std::array<std::string, 10> tens = {"",      "",      "twenty",  "thirty", "forty",
                                          "fifty", "sixty", "seventy", "eighty", "ninety"};
const std::array<std::string, 20> ordinals = {"",          "first",     "second",      "third",      "fourth",
                                              "fifth",     "sixth",     "seventh",     "eighth",     "ninth",
                                              "tenth",     "eleventh",  "twelfth",     "thirteenth", "fourteenth",
                                              "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
const std::array<std::string, 12> months = {"january", "february", "march",     "april",   "may",      "june",
                                            "july",    "august",   "september", "october", "november", "december"};

constexpr std::size_t first_year = 1900, years = 200, forms = 3;

struct Date {
  std::size_t year, month, day;
};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Words day_in_words(std::size_t day) {
  if (day < 20) return {ordinals[day]};
  if (day % 10 == 0) return {day == 20 ? "twentieth" : "thirtieth"};
  return {tens[day / 10], ordinals[day % 10]};
}

Words two_digits(std::size_t number) {
  if (number < 10) return {"oh", ones[number]};
  if (number < 20) return {teens[number - 10]};
  if (number % 10 == 0) return {tens[number / 10]};
  return {tens[number / 10], ones[number % 10]};
}

Words year_in_words(std::size_t year) {
  const std::size_t rest = year % 100;
  if (year < 2000) return Words{"nineteen"} + (rest == 0 ? Words{"hundred"} : two_digits(rest));
  if (rest >= 10) return Words{"twenty"} + two_digits(rest);
  return rest == 0 ? Words{"two", "thousand"} : Words{"two", "thousand", ones[rest]};
}

Words date_in_words(const Date& date, std::size_t form) {
  const Words day = day_in_words(date.day), month = {months[date.month - 1]}, year = year_in_words(date.year);
  if (form == 0) return month + day + year;
  if (form == 1) return Words{"the"} + day + Words{"of"} + month + year;
  return year + month + day;
}

std::size_t days_in(std::size_t year, std::size_t month) {
  constexpr std::array<std::size_t, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (leap && month == 2 ? 1 : 0);
}

// All words, in the order of the alphabet, and <end>.
Vocabulary source_words() {
  Words words;
  for (std::size_t year = first_year; year < first_year + years; ++year) words = words + year_in_words(year);
  for (std::size_t day = 1; day <= 31; ++day) words = words + day_in_words(day);
  words = words + Words(months.begin(), months.end()) + Words{"the", "of"};
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  words.emplace_back(end_word);
  return words;
}

Vocabulary target_words() {
  Vocabulary words;
  for (char digit = '0'; digit <= '9'; ++digit) words.emplace_back(1, digit);
  words.insert(words.end(), {"-", std::string(start_word), std::string(end_word)});
  return words;
}

// 2024-05-03: the ids of digits are the digits and one.
Words in_digits(const Date& date) {
  Words digits;
  for (const char c : fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day)) digits.emplace_back(1, c);
  return digits;
}

std::size_t number_in(const Ids& digits, std::size_t first, std::size_t count) {
  std::size_t number = 0;
  for (std::size_t i = first; i < first + count; ++i) number = 10 * number + digits[i] - 1;
  return number;
}

// Every tenth date, in all of its forms.
bool holds_out_date(const TaskExample& example) {
  const Ids& digits = example.expected;
  return (number_in(digits, 0, 4) * 372 + number_in(digits, 5, 2) * 31 + number_in(digits, 8, 2)) % 10 == 7;
}

TaskExample example_of_date(const Date& date, std::size_t form, const Vocabulary& source, const Vocabulary& target) {
  TaskExample example;
  const Words end = {std::string(end_word)};
  for (const std::string& word : date_in_words(date, form) + end) example.source.push_back(id_in(source, word));
  for (const std::string& digit : in_digits(date) + end) example.expected.push_back(id_in(target, digit));
  example.given = {id_in(target, start_word)};
  example.given.insert(example.given.end(), example.expected.begin(), example.expected.end() - 1);
  return example;
}

TaskSetup set_up_dates(const TaskRequest& request) {
  EncoderDecoder model{
      .cell = &look_up(recurrences(), "gru", "cell"),
      .variant = &look_up(alignment_variants(), request.variant.empty() ? "bahdanau" : request.variant, "variant"),
      .source_words = source_words(),
      .target_words = target_words(),
      .source_size = 16,
      .target_size = 16,
      .state_size = request.sizes.d_model.value_or(32)};
  constexpr std::size_t longest_source = 9, longest_target = 11;
  const auto draw = [source = model.source_words, target = model.target_words](Generator& generator) {
    Date date{};
    date.year = first_year + uniform_index(years, generator);
    date.month = 1 + uniform_index(12, generator);
    date.day = 1 + uniform_index(days_in(date.year, date.month), generator);
    return example_of_date(date, uniform_index(forms, generator), source, target);
  };
  return {.model = std::move(model),
          .data = {.longest = {.source = longest_source,
                               .given = longest_target,
                               .expected = longest_target,
                               .has_padding = true},
                   .draw = draw,
                   .is_held_out = holds_out_date},
          .defaults = {.steps = 1500, .batch = 32, .rate = 3e-3}};
}

}  // namespace

const Task dates_task{.name = "dates",
                      .summary = "a date from words to digits, with a recurrent network and Bahdanau's attention",
                      .about = about_dates,
                      .measure = "digits of the date, each given the right ones before it",
                      .goal = 0.99,
                      .example = "the third of may twenty twenty four",
                      .is_recurrent = true,
                      .set_up = set_up_dates};

}  // namespace attn
