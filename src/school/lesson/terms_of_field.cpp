#include "school/lesson/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "core/support/text.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"

namespace attn {

namespace {

std::vector<TermOfField> read_terms() {
  std::vector<TermOfField> terms;
  for (std::string_view rest = terms_text(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(line).empty()) continue;
    TermOfField& term = terms.emplace_back();
    term.name = trimmed(line.substr(0, line.find(',')));
    for (const std::string& form : split_at_any(line, ",")) term.forms.push_back(in_lower_case(trimmed(form)));
  }
  return terms;
}

struct Form {
  std::string_view text;
  const TermOfField* term;
};

// The longest first.
std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const TermOfField& term : terms()) {
    for (const std::string& form : term.forms) forms.push_back({form, &term});
  }
  std::ranges::stable_sort(forms, std::ranges::greater{}, [](const Form& form) { return form.text.size(); });
  return forms;
}

bool is_in_term(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Gathers the uses in one lesson.
class GatheredUses {
 public:
  void read(const Text& text, std::size_t line) {
    std::string words;
    std::vector<bool> is_bold;
    for (const Span& span : text) {
      // A name in code is no term.
      words += span.style == Span::Style::code ? std::string(span.text.size(), '_') : in_lower_case(span.text);
      is_bold.resize(words.size(), span.style == Span::Style::strong);
    }
    for (std::size_t at = 0; at < words.size();) {
      const bool begins_word = at == 0 || !is_in_term(words[at - 1]);
      const Form* const form = begins_word ? longest_at(words, at) : nullptr;
      if (!form) {
        ++at;
        continue;
      }
      const std::size_t end = at + form->text.size();
      const bool alone =
          is_bold[at] && is_bold[end - 1] && (at == 0 || !is_bold[at - 1]) && (end == words.size() || !is_bold[end]);
      uses_.push_back({form->term, line, alone});
      at = end;
    }
  }

  std::vector<TermUse> finish() {
    std::ranges::stable_sort(uses_, {}, &TermUse::line);
    return std::move(uses_);
  }

 private:
  static const Form* longest_at(std::string_view words, std::size_t at) {
    static const std::vector<Form> forms = all_forms();
    for (const Form& form : forms) {
      const std::size_t end = at + form.text.size();
      if (words.substr(at).starts_with(form.text) && (end == words.size() || !is_in_term(words[end]))) return &form;
    }
    return nullptr;
  }

  std::vector<TermUse> uses_;
};

using Introductions = std::map<const TermOfField*, std::string>;  // and where

Introductions introductions_in(std::span<const Lesson> lessons) {
  Introductions found;
  for (const Lesson& lesson : lessons) {
    for (const TermUse& use : term_uses(lesson)) {
      if (use.introduces) found.try_emplace(use.term, lesson.document.path);
    }
  }
  return found;
}

}  // namespace

std::span<const TermOfField> terms() {
  static const std::vector<TermOfField> all = read_terms();
  return all;
}

std::vector<TermUse> term_uses(const Lesson& lesson) {
  GatheredUses reading;
  for (const MarkdownLeaf& leaf : lesson.document.leaves) {
    if (leaf.kind != MarkdownLeaf::Kind::paragraph || is_output(lesson.document, leaf.first_line)) continue;
    for (const Text& words : leaf.words) reading.read(words, leaf.first_line);
  }
  for (const Question& question : lesson.questions) {
    const std::size_t line = question.place.line;
    reading.read(text(question.ask), line);
    for (const std::string& choice : question.choices) reading.read(text(choice), line);
    for (const std::string& hint : question.hints) reading.read(text(hint), line);
    for (const AuthorsNote& note : question.notes) reading.read(text(note.says), note.line);
  }
  for (const Puzzle& puzzle : lesson.puzzles) {
    reading.read(text(puzzle.ask), puzzle.place.line);
    for (const std::string& hint : puzzle.hints) reading.read(text(hint), puzzle.place.line);
    for (const PuzzleNote& note : puzzle.notes) reading.read(text(note.says), puzzle.place.line);
  }
  return reading.finish();
}

std::vector<TermFault> term_faults(const Lesson& lesson) {
  static const std::vector<Lesson> course = built_in_lessons();
  const auto is_this = [&](const Lesson& other) { return other.number == lesson.number && other.name == lesson.name; };
  const auto here = std::ranges::find_if(course, is_this);
  const bool is_of_course = here != course.end();
  Introductions known, later;
  if (is_of_course) known = introductions_in({course.begin(), here});
  const std::vector<TermUse> uses = term_uses(lesson);
  for (const TermUse& use : uses) {
    if (use.introduces) later.try_emplace(use.term, fmt::format("line {}", use.line));
  }
  if (is_of_course) later.merge(introductions_in({here + 1, course.end()}));
  std::vector<TermFault> faults;
  std::set<const TermOfField*> told;
  for (const TermUse& use : uses) {
    const auto tell = [&](std::string says) {
      if (told.insert(use.term).second) faults.push_back({use.line, std::move(says)});
    };
    if (use.introduces) {
      const auto [first, is_new] = known.try_emplace(use.term, fmt::format("line {}", use.line));
      if (!is_new) tell(fmt::format("'{}' is introduced again: {} does it", use.term->name, first->second));
    } else if (!known.contains(use.term) && later.contains(use.term)) {
      tell(fmt::format("'{}' is used here and introduced later, in {}", use.term->name, later[use.term]));
    }
  }
  return faults;
}

}  // namespace attn
