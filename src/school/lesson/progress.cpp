#include "school/lesson/progress.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

// --- progress

namespace {

constexpr std::string_view schema_of_progress = "attn/progress/1";

[[noreturn]] void fail_foreign(const std::string& path) {
  fail("{} is not a file of progress: give another --state FILE, or remove it", path);
}

LessonProgress lesson_progress(const Json& value) {
  LessonProgress progress;
  for (const Json& key : value.at("done").get_ref<const Json::array_t&>())
    progress.done.push_back(key.get<std::string>());
  for (const auto& [key, answer] : value.at("answers").get_ref<const Json::object_t&>())
    progress.answers[key] = {answer.at("text").get<std::string>(), answer.at("right").get<bool>(),
                             answer.value("first", false), answer.value("missed", false)};
  if (value.contains("repetition")) {
    const Json& repetition = value.at("repetition");
    progress.repetition = {repetition.at("day").get<std::int64_t>(), repetition.at("remembered").get<std::size_t>(),
                           repetition.at("times").get<std::size_t>()};
  }
  return progress;
}

// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits): the same on every machine.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

std::string key_of_step(const Lesson& lesson, const LessonStep& step) {
  Hash hash;
  for (std::size_t line = step.first_line; line <= step.last_line; ++line)
    hash.add(without_ending(lesson.document.lines[line - 1]));
  if (step.commands) hash.add(lesson.document.commands[*step.commands].fence.text);
  if (step.question) hash.add(lesson.document.questions[*step.question].text);
  if (step.puzzle) hash.add(lesson.document.puzzles[*step.puzzle].text);
  return hash.text();
}

// What is left of a state file after a loss of power: nothing, zeros, or its beginning.
bool is_remainder(std::string_view bytes) {
  const std::string whole = bytes_of(CourseProgress());
  const std::string_view beginning =
      std::string_view(whole).substr(0, whole.find(schema_of_progress) + schema_of_progress.size());
  return bytes.starts_with('\0') || bytes.starts_with(beginning) || beginning.starts_with(trimmed(bytes));
}

CourseProgress progress_in(const Json& json) {
  CourseProgress progress;
  for (const auto& [name, lesson] : json.at("lessons").get_ref<const Json::object_t&>())
    progress.lessons[name] = lesson_progress(lesson);
  progress.last = json.value("last", "");
  for (const Json& name : json.value("puzzles", Json::array())) progress.puzzles.insert(name.get<std::string>());
  return progress;
}

}  // namespace

std::int64_t this_day() {
  using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
  return std::chrono::duration_cast<Days>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t day_of_review(const LessonProgress& progress) {
  constexpr std::array<std::int64_t, 4> intervals = {1, 3, 7, 21};
  if (!progress.repetition) return 0;
  return progress.repetition->day + intervals[std::min(progress.repetition->remembered, intervals.size() - 1)];
}

ProgressFile read_progress(const std::string& path) {
  if (!file_exists(path)) return {};
  const std::string bytes = read_bytes(path);
  try {
    const Json json = parse_json(bytes, path);
    if (json.is_object() && json.value("schema", Json()) == Json(schema_of_progress)) return {progress_in(json)};
  } catch (const InputError&) {
    if (is_remainder(bytes)) return {{}, true};
  } catch (const Json::exception&) {
    return {{}, true};
  }
  fail_foreign(path);
}

std::string name_aside(const std::string& path) {
  std::string name = path + ".damaged";
  for (int number = 2; file_exists(name); ++number) name = fmt::format("{}.damaged-{}", path, number);
  return name;
}

std::string bytes_of(const CourseProgress& progress) {
  // An object itself would look through all of its members for one of the same name.
  Json::object_t lessons;
  for (const auto& [name, lesson] : progress.lessons) {
    Json::object_t answers;
    for (const auto& [key, answer] : lesson.answers)
      answers.push_back(
          {key, {{"text", answer.text}, {"right", answer.right}, {"first", answer.first}, {"missed", answer.missed}}});
    Json::object_t kept = {{"done", lesson.done}, {"answers", std::move(answers)}};
    if (lesson.repetition) {
      kept.push_back({"repetition",
                      {{"day", lesson.repetition->day},
                       {"remembered", lesson.repetition->remembered},
                       {"times", lesson.repetition->times}}});
    }
    lessons.push_back({name, std::move(kept)});
  }
  const Json json = {{"schema", schema_of_progress},
                     {"last", progress.last},
                     {"puzzles", progress.puzzles},
                     {"lessons", std::move(lessons)}};
  // Typed text need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string progress_name(const Lesson& lesson) {
  if (!lesson.document.folder) return lesson.name;
  return real_path(lesson.document.path).string();
}

std::vector<std::string> keys_of(const Lesson& lesson) {
  std::vector<std::string> keys;
  std::map<std::string, std::size_t> times;
  for (const LessonStep& step : lesson.steps) {
    std::string key = key_of_step(lesson, step);
    if (const std::size_t before = times[key]++; before > 0) key += fmt::format("-{}", before + 1);
    keys.push_back(std::move(key));
  }
  return keys;
}

ProgressCounts counts_of(const Lesson& lesson, const LessonProgress& progress) {
  ProgressCounts counts{.steps = lesson.steps.size()};
  const std::vector<std::string> keys = keys_of(lesson);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    counts.done += std::ranges::find(progress.done, keys[i]) != progress.done.end();
    const auto answer = progress.answers.find(keys[i]);
    if (!lesson.steps[i].question) continue;
    const Question& question = lesson.questions[*lesson.steps[i].question];
    if (question.predicts || (question.asks_why && answer == progress.answers.end())) continue;
    ++counts.questions;
    if (answer == progress.answers.end()) continue;
    counts.first += answer->second.first;
    counts.later += answer->second.right && !answer->second.first;
    counts.missed += answer->second.missed;
  }
  return counts;
}

// --- kept progress

ProgressStore::ProgressStore(Terminal& terminal, std::string path, Tell tell)
    : terminal_(terminal), path_(std::move(path)), tell_(std::move(tell)) {
  progress_ = read_progress(path_).progress;
  try_to_keep([&] {
    terminal_.prepare_to_save(path_);
    terminal_.alone_with(path_, [&] { progress_ = read(); });
  });
}

void ProgressStore::try_to_keep(const std::function<void()>& action) {
  if (!is_kept_) return;
  try {
    action();
  } catch (const OutputError& error) {
    is_kept_ = false;
    tell_(text("Your progress is not kept: ", error.what(), ". To keep it in another file, give ", code("--state FILE"),
               "."));
  }
}

// What is damaged makes room, and is not lost.
CourseProgress ProgressStore::read() {
  ProgressFile file = read_progress(path_);
  if (file.is_damaged) {
    const std::string aside = name_aside(path_);
    terminal_.rename(path_, aside);
    tell_(text("The file of your progress, ", path_, ", was damaged. It is now called ", aside,
               ", and your progress begins anew."));
  }
  return std::move(file.progress);
}

CourseProgress ProgressStore::progress() {
  if (is_kept_) progress_ = read_progress(path_).progress;
  return progress_;
}

void ProgressStore::change(const std::function<void(CourseProgress& progress)>& change) {
  try_to_keep([&] {
    terminal_.alone_with(path_, [&] {
      CourseProgress changed = read();
      change(changed);
      terminal_.save({path_, bytes_of(changed)});
      progress_ = std::move(changed);
    });
  });
  if (!is_kept_) change(progress_);
}

}  // namespace attn
