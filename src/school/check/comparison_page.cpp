#include "school/check/comparison_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "school/check/fingerprints.hpp"
#include "school/check/records.hpp"
#include "school/check/right_code.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {
namespace {

std::string address(const ComparedMatrix& matrix, const Difference& difference) {
  return fmt::format("{}[{},{}]", matrix.node->name, difference.row + 1, difference.column + 1);
}

bool is_convention(const Mistake* mistake) { return mistake->kind == Mistake::Kind::convention; }

// What a list says of a mistake.
Text told_mistake(const Mistake& mistake, const std::string& amount = "") {
  return text(code(std::string(mistake.name)), is_convention(&mistake) ? " (a convention): " : ": ",
              std::string(mistake.says), amount.empty() ? "" : fmt::format(" What fits here: {}.", amount));
}

class ComparisonPage {
 public:
  ComparisonPage(Page& page, const std::string& file, const MatchedMatrices& matched, const Findings& findings,
                 const FindTellingInput& find)
      : page_(page), file_(file), matched_(matched), findings_(findings), find_(find) {}

  void add() {
    page_.head(1, fmt::format("Comparison with {}", file_));
    say_result();
    add_matrices();
    for (const std::string& remark : matched_.remarks) page_.say(remark);
    for (Records& records : records_of(matched_, findings_)) page_.say(std::move(records));
    add_others();
    for (std::size_t i = 0; i < findings_.all.size(); ++i) add_finding(i);
    if (findings_.has_more) page_.say("More matrices differ than these. Fix the first one, and check again.");
    if (findings_.all.empty()) add_hidden();
  }

 private:
  // The verdict in a sentence, then where, then what to write instead.
  void say_result() {
    const std::size_t count = matched_.compared.size();
    const auto differ = static_cast<std::size_t>(std::ranges::count_if(
        matched_.compared, [](const ComparedMatrix& matrix) { return !matrix.difference.agrees(); }));
    if (findings_.all.empty()) {
      if (!findings_.precision) {
        page_.say(fmt::format("{:The matrix agrees|All # matrices agree} with the computation{}.", Count{count},
                              with_supposed()));
      } else if (findings_.precision->is_bound) {
        page_.say(text(
            fmt::format(
                "{0:The matrix is|All # matrices are} as near to the right {0:one|ones}{1} as these leave {0:it|them}: ",
                Count{count}, with_supposed()),
            strong(findings_.precision->told), "."));
      } else {
        page_.say(text(fmt::format("{:The matrix is|All # matrices are} right{}: ", Count{count}, with_supposed()),
                       strong(findings_.precision->told), "."));
      }
      say_also_given();
      return say_doubts();
    }
    const Finding& first = findings_.all.front();
    const ComparedMatrix& matrix = matched_.compared[first.place];
    say_verdict(first);
    say_doubts();
    page_.say(
        text(fmt::format("{0} of {1:# matrix|# matrices} differ{0:s|}. The first in the order of the computation is ",
                         Count{differ}, Count{count}),
             strong(matrix.node->name), "."));
    add_right_code(first);
    if (!matched_.supposed.empty())
      page_.say(fmt::format("Supposed, because neither the file nor the line says it: {}.",
                            list_in_words(matched_.supposed)));
    say_unread();
  }

  // How the step is made in which the mistake is, or else the matrix.
  void add_right_code(const Finding& first) {
    if (findings_.may_be_conventions()) return;
    const Node& matrix = *matched_.compared[first.place].node;
    const Node* step = &matrix;
    if (first.made.size() == 1) {
      const Node* const made = NodesWhere(*matrix.graph, first.made.front().where).first();
      if (made && made->index <= matrix.index) step = made;
    }
    std::optional<std::string> code = right_code(*step);
    if (!code) code = right_code(matrix);
    if (!code) return;
    page_.say("In NumPy it is:");
    page_.say(CodeBlock{"python", std::move(*code)});
  }

  // Few digits fit many stories.
  void say_also_given() {
    if (findings_.also_given_by.empty()) return;
    std::vector<std::string> summaries;
    for (const Mistake* one : findings_.also_given_by) summaries.push_back(std::string(one->summary));
    page_.say(fmt::format("With so few digits {:a mistake gives|mistakes give} these numbers as well: {}.",
                          Count{summaries.size()}, fmt::join(summaries, "; ")));
  }

  // ", with --causal, which neither the file nor the line says"
  std::string with_supposed() const {
    if (matched_.supposed.empty()) return "";
    return fmt::format(" with {}, which neither the file nor the line says", list_in_words(matched_.supposed));
  }

  void say_doubts() {
    for (const std::string& doubt : matched_.doubts) page_.say(doubt);
  }

  // A right implementation that uses a parameter which was not read differs too.
  void say_unread() {
    if (matched_.unread.empty()) return;
    std::vector<std::string> names = matched_.unread;
    constexpr std::size_t most = 6;
    if (names.size() > most) {
      names.resize(most - 1);
      names.push_back(fmt::format("{} others", matched_.unread.size() - names.size()));
    }
    page_.say(fmt::format(
        "{0} may be {1:a parameter|parameters} of the file and {1:was|were} not read, because the computation has no matrix of {1:this name|these names}. That may be why: give {1:a name|names} that it has.",
        list_in_words(names), Count{names.size()}));
  }

  // What a reader looks for first.
  void say_verdict(const Finding& first) {
    const ComparedMatrix& matrix = matched_.compared[first.place];
    const std::vector<std::string> summaries = summaries_of(first);
    if (summaries.empty()) {
      if (first.has_other_mask_value)
        return page_.say("What differs is a convention, which is no error: others put a large negative number for −∞.");
      if (is_one_cell(first)) {
        const Difference& apart = first.difference;
        const auto [theirs, right] =
            written_apart((*matrix.theirs)(apart.row, apart.column), matrix.node->matrix()(apart.row, apart.column));
        return page_.say(
            text(fmt::format("In {}, only ", matrix.node->name), strong(address(matrix, apart)),
                 fmt::format(" {}: it is {} in the file, and {} is right.",
                             first.is_beyond_rounding ? "is further off than rounded steps explain" : "differs", theirs,
                             right)));
      }
      const Fingerprints seen = seen_of(first);
      if (!seen.identify) page_.say("The file differs from the computation, and no known mistake explains how.");
      if (!seen.summary.empty())
        page_.say(seen.identify ? fmt::format("What can be seen of {}: {}", matrix.node->name, seen.summary)
                                : seen.summary);
      return;
    }
    Text all = text(verdict_on(first, summaries.size()), ": ");
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      const Text one = text(i == 0 ? "" : "; ", strong(summaries[i]));
      all.insert(all.end(), one.begin(), one.end());
    }
    if (first.convention) {
      const Text besides = text(", together with a convention, ", std::string(first.convention->summary));
      all.insert(all.end(), besides.begin(), besides.end());
    }
    if (!first.precision.empty()) {
      const Text besides = text(", with ", first.precision);
      all.insert(all.end(), besides.begin(), besides.end());
    }
    all.push_back({Span::Style::plain, "."});
    page_.say(std::move(all));
    if (findings_.may_be_conventions()) page_.say("That is no error: others compute it so by agreement.");
    if (!findings_.said_otherwise.empty())
      page_.say(fmt::format("Others compute it so by agreement, but here the line says {}.", findings_.said_otherwise));
    if (!first.same_numbers.empty())
      page_.say(fmt::format(
          "The same numbers come from {}. This input cannot tell which; with another size of keys they differ, as in what attn check --input proposes.",
          fmt::join(first.same_numbers, ", or from ")));
  }

  std::string verdict_on(const Finding& first, std::size_t count) const {
    const bool are_conventions = std::ranges::all_of(first.mistakes, is_convention);
    const std::string_view what = are_conventions && first.pairs.empty() ? "convention" : "mistake";
    if (first.contradicts) return fmt::format("{:A guess|Each of these is a guess}", Count{count});
    const std::string gives = fmt::format("the numbers of {}", matched_.compared[first.place].node->name);
    if (!first.pairs.empty())
      return fmt::format("Two mistakes together give {}{}", gives, count > 1 ? ", in one of these pairs" : "");
    return count > 1 ? fmt::format("One of these {}s gives {}", what, gives)
                     : fmt::format("{} {} gives {}", are_conventions ? "A" : "One", what, gives);
  }

  // Whether of all that was compared one cell differs, in the first matrix that does.
  bool is_one_cell(const Finding& first) const {
    const Difference& apart = first.difference;
    return !apart.has_other_shape && (apart.cells == 1 || first.is_beyond_rounding) &&
           matched_.compared[first.place].theirs->size() > 1;
  }

  static std::string with_amount(const Mistake& mistake, const std::string& amount) {
    return amount.empty() ? std::string(mistake.summary) : fmt::format("{} ({})", mistake.summary, amount);
  }

  // Each explanation of a finding in a phrase.
  static std::vector<std::string> summaries_of(const Finding& finding) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < finding.mistakes.size(); ++i) {
      all.push_back(with_amount(*finding.mistakes[i], finding.amounts.empty() ? "" : finding.amounts[i]));
    }
    for (const MistakePair& pair : told_pairs(finding)) {
      all.push_back(fmt::format("{}, and {}", with_amount(*pair.first.mistake, pair.first.amount),
                                with_amount(*pair.second.mistake, pair.second.amount)));
    }
    return all;
  }

  // Of many pairs the likeliest.
  static std::span<const MistakePair> told_pairs(const Finding& finding) {
    constexpr std::size_t most = 3;
    return std::span(finding.pairs).first(std::min(most, finding.pairs.size()));
  }

  Fingerprints seen_of(const Finding& finding) const {
    const ComparedMatrix& matrix = matched_.compared[finding.place];
    if (!finding.expected) return {};
    return fingerprints({*matrix.node, *matrix.theirs, *finding.expected, matrix.rounding, finding.difference});
  }

  // Of many matrices only those that differ, and for readers only columns that say something.
  void add_matrices() {
    constexpr std::size_t many = 40;
    page_.head(2, "The matrices in the order of the computation");
    const std::vector<ComparedMatrix>& all = matched_.compared;
    const bool are_many = all.size() > many;
    const auto differ = [](const ComparedMatrix& matrix) { return !matrix.difference.agrees(); };
    const bool has_own_names =
        std::ranges::any_of(all, [](const ComparedMatrix& matrix) { return matrix.name != matrix.node->name; });
    const bool are_alike = std::ranges::all_of(
        all, [&](const ComparedMatrix& matrix) { return matrix.rounding.told() == all.front().rounding.told(); });
    if (are_alike) page_.say(fmt::format("They are compared {}.", all.front().rounding.told()));
    Listing list{.columns = {"matrix"}, .rows = {}, .headed = true};
    if (has_own_names) list.columns.emplace_back("in the file");
    list.columns.emplace_back("shape");
    if (!are_alike) list.columns.emplace_back("compared");
    list.columns.emplace_back("result");
    for (const ComparedMatrix& matrix : all) {
      if (are_many && !differ(matrix)) continue;
      std::vector<std::string> row = {matrix.node->name};
      if (has_own_names) row.push_back(matrix.name);
      row.push_back(to_string(matrix.theirs->shape()));
      if (!are_alike) row.push_back(matrix.rounding.told());
      row.push_back(result_of(matrix));
      list.rows.push_back(std::move(row));
    }
    const std::size_t left_out = all.size() - list.rows.size();
    if (!list.rows.empty()) page_.say(std::move(list));
    if (left_out > 0) page_.say(fmt::format("{} that agree are not listed.", left_out));
  }

  static std::string result_of(const ComparedMatrix& matrix) {
    const Difference& apart = matrix.difference;
    if (apart.has_other_shape) return fmt::format("differs: {} is right", to_string(matrix.node->frame.shape));
    if (apart.agrees()) return matrix.node->op ? "same" : "same (input)";
    const std::string where = fmt::format("differs in {} of {}", apart.cells, matrix.theirs->size());
    return std::isfinite(apart.largest) ? fmt::format("{}, by up to {}", where, written_value(apart.largest)) : where;
  }

  void add_others() {
    if (matched_.others.empty()) return;
    page_.say("Not compared:");
    ParagraphsWithMargins list;
    for (const IncomparableMatrix& other : matched_.others)
      list.lines.push_back({"- ", "  ", text(code(other.name), fmt::format(": {}.", other.why))});
    page_.say(std::move(list));
  }

  void add_finding(std::size_t number) {
    const Finding& finding = findings_.all[number];
    const ComparedMatrix& matrix = matched_.compared[finding.place];
    page_.head(
        2, fmt::format("{}: {}", number == 0 ? "The first that differs" : "What differs besides", matrix.node->name));
    if (!finding.expected) return say_cannot_be_computed(finding);
    if (number > 0) say_taken_for_granted(matrix, finding);
    say_difference(matrix, finding);
    add_beside(matrix, finding);
    say_heads(matrix);
    add_fingerprints(finding);
    add_mistakes(matrix, finding);
  }

  std::vector<std::string> names_at(const std::vector<std::size_t>& places) const {
    std::vector<std::string> names;
    for (const std::size_t place : places) names.push_back(matched_.compared[place].node->name);
    return names;
  }

  // Of what the findings before it have taken for granted, a matrix need not be made of all.
  void say_taken_for_granted(const ComparedMatrix& matrix, const Finding& finding) {
    if (!finding.grounds) return;
    std::vector<std::string> from;
    if (!finding.grounds->numbers.empty())
      from.push_back(fmt::format("from the file's {}", list_in_words(names_at(finding.grounds->numbers))));
    if (!finding.grounds->explanations.empty())
      from.push_back(fmt::format("with what explains {}", list_in_words(names_at(finding.grounds->explanations))));
    page_.say(from.empty()
                  ? fmt::format("What is right of {} depends on nothing that was found above.", matrix.node->name)
                  : fmt::format("Below, what is right is computed {}.", fmt::join(from, ", and ")));
  }

  // From numbers of another shape than those that are computed.
  void say_cannot_be_computed(const Finding& finding) {
    std::vector<std::size_t> others;
    for (const std::size_t place : finding.grounds ? finding.grounds->numbers : std::vector<std::size_t>()) {
      if (matched_.compared[place].difference.has_other_shape) others.push_back(place);
    }
    if (others.empty()) {
      page_.say("It cannot be computed from the numbers before it.");
      return;
    }
    page_.say(fmt::format(
        "What is right cannot be computed from the file's {}, which {:has another shape|have other shapes}.",
        list_in_words(names_at(others)), Count{others.size()}));
  }

  void say_difference(const ComparedMatrix& matrix, const Finding& finding) {
    const Difference& apart = finding.difference;
    if (!matrix.node->op) {
      page_.say(fmt::format("This is an input: the file has another {} than the computation.", matrix.node->name));
    }
    if (apart.has_other_shape) return;
    const double theirs = (*matrix.theirs)(apart.row, apart.column),
                 right = (*finding.expected)(apart.row, apart.column);
    const std::string rows = written_places(apart.rows);
    const auto told = written_apart(theirs, right);
    const std::string largest = std::isfinite(apart.largest)
                                    ? fmt::format("The largest difference is {} at ", written_value(apart.largest))
                                    : "Numbers that are not finite differ, such as at ";
    page_.say(text(fmt::format("{0} of its {1} cells differ{0:s|}, in row{2:|s} {3}. {4}", Count{apart.cells},
                               matrix.theirs->size(), Count{apart.rows.size()}, rows, largest),
                   code(address(matrix, apart)),
                   fmt::format(": the file has {}, and right is {}.", told.one, told.other)));
  }

  void add_beside(const ComparedMatrix& matrix, const Finding& finding) {
    constexpr std::size_t most_cells_of_other_shape = 400;  // which say little beside the right ones
    if (finding.difference.has_other_shape && matrix.theirs->size() > most_cells_of_other_shape) return;
    Table right = table_of(*matrix.node), theirs = right;
    right.array.clear();
    right.title = finding.place == findings_.all.front().place ? matrix.node->name
                                                               : fmt::format("{}, as expected", matrix.node->name);
    right.cells = finding.expected;
    theirs.array.clear();
    theirs.title = fmt::format("{} in the file", matrix.name);
    theirs.cells = matrix.theirs;
    theirs.scores = nullptr;
    if (finding.difference.has_other_shape) {
      theirs.rows = axis("rows");
      theirs.columns = axis("columns");
    } else {
      const TablePlace place{finding.difference.row, finding.difference.column};
      for (Table* table : {&right, &theirs}) table->told.push_back(place);
    }
    page_.say(SideBySide{{std::move(theirs), std::move(right)}});
  }

  // Which heads of the same attention are right.
  void say_heads(const ComparedMatrix& matrix) {
    const NamedScope* const head = matrix.node->within(scope::head);
    if (!head) return;
    std::vector<std::size_t> right, wrong;
    for (const ComparedMatrix& other : matched_.compared) {
      const NamedScope* const its = other.node->within(scope::head);
      if (!its || its->outer != head->outer || other.node->role != matrix.node->role || !its->number) continue;
      (other.difference.agrees() ? right : wrong).push_back(*its->number - 1);
    }
    if (right.empty() || wrong.empty()) return;
    page_.say(fmt::format("It is right in head{:|s} {}, and differs in head{:|s} {}.", Count{right.size()},
                          written_places(right), Count{wrong.size()}, written_places(wrong)));
  }

  void add_fingerprints(const Finding& finding) {
    const std::vector<std::string> seen = seen_of(finding).sentences;
    if (seen.empty()) return;
    page_.say("What can be seen:");
    ParagraphsWithMargins list;
    for (const std::string& sentence : seen) list.lines.push_back({"- ", "  ", text(sentence)});
    page_.say(std::move(list));
  }

  void add_mistakes(const ComparedMatrix& matrix, const Finding& finding) {
    if (finding.is_alone) page_.say("What is computed from it is right in the file: only this matrix is another one.");
    if (!finding.pairs.empty()) return add_pairs(finding);
    if (finding.mistakes.empty()) {
      if (!seen_of(finding).identify)
        page_.say(fmt::format("No known mistake explains these numbers of {}.", matrix.node->name));
      if (!finding.is_alone && &finding == &findings_.all.back() && has_behind(finding) && !findings_.has_more)
        page_.say(fmt::format("What is computed from {} is right for these numbers.", matrix.node->name));
      return;
    }
    const std::string_view together = finding.convention ? " together with a convention" : "";
    if (finding.contradicts) {
      const std::string& other = matched_.compared[*finding.contradicts].node->name;
      page_.say(fmt::format(
          "{0:One mistake gives|Several mistakes give} these numbers{1}, but not those of {2}, which is computed from it. So {0:it is|each of them is} a guess:",
          Count{finding.mistakes.size()}, together, other));
    } else if (finding.mistakes.size() == 1) {
      page_.say(fmt::format("One mistake gives these numbers{}:", together));
    } else {
      page_.say(text(strong(fmt::format("Several mistakes give these numbers{}", together)),
                     finding.was_followed ? ": this input cannot tell them apart." : ":"));
    }
    ParagraphsWithMargins list;
    for (std::size_t i = 0; i < finding.mistakes.size(); ++i) {
      list.lines.push_back(
          {"- ", "  ", told_mistake(*finding.mistakes[i], finding.amounts.empty() ? "" : finding.amounts[i])});
    }
    if (finding.convention) list.lines.push_back({"- ", "  ", told_mistake(*finding.convention)});
    page_.say(std::move(list));
    say_unused(finding);
    say_explained(finding);
    if (finding.mistakes.size() > 1 && finding.amounts.empty()) add_telling_input(finding.mistakes);
  }

  void add_pairs(const Finding& finding) {
    const std::span<const MistakePair> pairs = told_pairs(finding);
    const std::size_t more = finding.pairs.size() - pairs.size();
    if (finding.pairs.size() == 1) {
      page_.say("No mistake alone gives these numbers. Two together do:");
    } else {
      page_.say(text("No mistake alone gives these numbers. ", strong("Several pairs do"),
                     ": this input cannot tell them apart."));
    }
    ParagraphsWithMargins list;
    for (const MistakePair& pair : pairs) {
      if (pairs.size() > 1)
        list.lines.push_back({"", "", text(fmt::format("Together, as pair {}:", list.lines.size() / 3 + 1))});
      for (const HalfOfPair* half : {&pair.first, &pair.second})
        list.lines.push_back({"- ", "  ", told_mistake(*half->mistake, half->amount)});
    }
    page_.say(std::move(list));
    if (more > 0) page_.say(fmt::format("{:# pair more gives|# pairs more give} these numbers too.", Count{more}));
    if (differing_from(finding) > 1)
      page_.say(fmt::format("With both, all {} matrices that differ from here on are as they are in the file.",
                            differing_from(finding)));
  }

  std::size_t differing_from(const Finding& finding) const {
    return static_cast<std::size_t>(
        std::count_if(matched_.compared.begin() + static_cast<std::ptrdiff_t>(finding.place), matched_.compared.end(),
                      [](const ComparedMatrix& one) { return !one.difference.agrees(); }));
  }

  bool has_behind(const Finding& finding) const { return finding.place + 1 < matched_.compared.size(); }

  void say_unused(const Finding& finding) {
    if (finding.unused.empty()) return;
    std::vector<std::string> names;
    for (const std::size_t place : finding.unused) names.push_back(matched_.compared[place].node->name);
    page_.say(fmt::format("{0} {1:is|are} right in the file. So {2} was not computed from {1:it|them} there.",
                          list_in_words(names), Count{names.size()}, matched_.compared[finding.place].node->name));
  }

  void say_explained(const Finding& finding) {
    if (finding.explains < 2) return;
    const std::size_t differ = differing_from(finding);
    page_.say(
        finding.explains == differ
            ? fmt::format(
                  "With {:it|each of them}, all {} matrices that differ from here on are as they are in the file.",
                  Count{finding.mistakes.size()}, differ)
            : fmt::format("{:It|Each of them} explains {} of the {} matrices that differ from here on.",
                          Count{finding.mistakes.size()}, finding.explains, differ));
  }

  void add_telling_input(const std::vector<const Mistake*>& mistakes) {
    const std::optional<TellingInput> input = find_(mistakes);
    if (!input) {
      page_.say("attn has found no small input that tells them apart.");
      return;
    }
    const std::set<std::size_t> different(input->numbers.begin(), input->numbers.end());
    page_.say(
        different.size() == mistakes.size()
            ? "They differ on this input. Compute with its matrices, and check the result:"
            : fmt::format(
                  "Of these {}, {} can be told apart on this input. Compute with its matrices, and check the result:",
                  mistakes.size(), different.size()));
    page_.say(CodeBlock{"sh", input->line + "\n" + input->check});
  }

  // The right numbers need not come from the right computation.
  void add_hidden() {
    if (findings_.hidden.empty()) return;
    constexpr std::size_t most_listed = 12;
    page_.head(2, "What this input cannot show");
    page_.say(fmt::format("{:This mistake|These # mistakes} would give the same numbers here:",
                          Count{findings_.hidden.size()}));
    ParagraphsWithMargins list;
    for (const Mistake* mistake : findings_.hidden) {
      if (list.lines.size() == most_listed) {
        list.lines.push_back({"- ", "  ", text(fmt::format("and {} more", findings_.hidden.size() - most_listed))});
        break;
      }
      list.lines.push_back({"- ", "  ", text(code(std::string(mistake->name)), fmt::format(": {}", mistake->summary))});
    }
    page_.say(std::move(list));
    std::vector<const Mistake*> mistakes = {nullptr};
    mistakes.insert(mistakes.end(), findings_.hidden.begin(), findings_.hidden.end());
    const std::optional<TellingInput> input = find_(mistakes);
    if (!input) return;
    const auto shown = static_cast<std::size_t>(std::count_if(
        input->numbers.begin() + 1, input->numbers.end(), [&](std::size_t one) { return one != input->numbers[0]; }));
    page_.say(fmt::format("This input shows {}:", shown == findings_.hidden.size()
                                                      ? fmt::format("{:it|all of them}", Count{shown})
                                                      : fmt::format("{} of them", shown)));
    page_.say(CodeBlock{"sh", input->line});
  }

  Page& page_;
  const std::string& file_;
  const MatchedMatrices& matched_;
  const Findings& findings_;
  const FindTellingInput& find_;
};

}  // namespace

void add_comparison(Page& page, const std::string& file, const MatchedMatrices& matched, const Findings& findings,
                    const FindTellingInput& find) {
  ComparisonPage(page, file, matched, findings, find).add();
}

}  // namespace attn
