#include "draws.hpp"
#include "school/lesson/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "command/docs.hpp"
#include "school/lesson/show.hpp"

using namespace attn;

namespace {

std::vector<std::string> faults_in(const std::string& text, const std::string& path = "mine.md") {
  std::vector<std::string> says;
  for (const TermFault& fault : term_faults(read_lesson("---\ntitle: t\n---\n" + text, path)))
    says.push_back(std::to_string(fault.line) + ": " + fault.says);
  return says;
}

using Faults = std::vector<std::string>;

}  // namespace

TEST_CASE("the course introduces every term exactly once, and uses none before") {
  std::map<const TermOfField*, std::size_t> times;
  for (const Lesson& lesson : built_in_lessons()) {
    CAPTURE(lesson.name);
    for (const TermUse& use : term_uses(lesson)) times[use.term] += use.introduces;
    for (const TermFault& fault : term_faults(lesson)) FAIL_CHECK(fault.line << ": " << fault.says);
  }
  for (const TermOfField& term : terms()) {
    CAPTURE(term.name);
    CHECK(times[&term] == 1);
  }
}

TEST_CASE("the words that people search for are among the terms") {
  for (const char* name : {"multi-head attention", "positional encoding", "causal mask", "attention weight", "training",
                           "hidden size", "self-attention", "cross-attention", "scaled dot-product attention",
                           "residual connection", "layer normalization", "KV cache", "padding"}) {
    CAPTURE(name);
    const auto is_named = [&](const TermOfField& term) { return term.name == name; };
    CHECK(std::ranges::any_of(terms(), is_named));
  }
}

TEST_CASE("a term before its introduction, and a second introduction, are faults") {
  CHECK(faults_in("A **causal mask** hides. A causal mask is used.\n").empty());
  CHECK(faults_in("A causal mask hides: a **causal mask**.\n") ==
        Faults{"4: 'causal mask' is used here and introduced later, in line 4"});
  CHECK(faults_in("A causal mask.\n\nThe **causal mask**.\n") ==
        Faults{"4: 'causal mask' is used here and introduced later, in line 6"});
  CHECK(faults_in("A **causal mask**.\n\nTwo **causal masks**.\n") ==
        Faults{"6: 'causal mask' is introduced again: line 4 does it"});
}

TEST_CASE("a lesson of the course knows only what comes before it, and one's own knows the course") {
  CHECK(faults_in("A causal mask hides.\n").empty());
  CHECK(faults_in("A causal mask hides.\n", "lessons/02-softmax-and-scaling.md") ==
        Faults{"4: 'causal mask' is used here and introduced later, in lessons/06-causal-mask.md"});
  CHECK(faults_in("The **query** again.\n", "lessons/02-softmax-and-scaling.md") ==
        Faults{"4: 'query' is introduced again: lessons/01-soft-lookup.md does it"});
}

TEST_CASE("the longest term counts, whole words only, and neither code nor emphasis nor headings") {
  CHECK(faults_in("A **masked self-attention** comes, then **masked** and **self-attention**.\n").empty());
  CHECK(faults_in("The keyboard, `causal mask` and *causal mask*.\n\nThe **causal mask**.\n") ==
        Faults{"4: 'causal mask' is used here and introduced later, in line 6"});
  CHECK(
      faults_in("## The causal mask\n\nThe keyboard and `causal mask`.\n\nThe **causal mask**, a **key**.\n").empty());
}

TEST_CASE("no step of any lesson takes more than twenty lines of 80 columns") {
  for (const Lesson& lesson : SomeOf(built_in_lessons())) {
    const LessonResult result = execute(lesson, block_runner());
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      CAPTURE(lesson.name);
      CAPTURE(i + 1);
      const std::size_t height = height_of(lesson, lesson.steps[i], result);
      CHECK(height >= 1);
      CHECK(height <= 20);
    }
  }
}
