#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"

namespace attn {

/// A form of a page: what an option makes of what a command says, in place of its matrices. A command sees to some
/// forms itself; the others have functions here, and of these a line asks for one at most.
struct Form {
  const Option* option;
  OptionList with = {};         // the forms that it goes with all the same: either of two says so
  std::string_view alone = {};  // why it goes with no other, where more is to be said
  /// What the command says in this form, from ordinary_answer() or in another way.
  Answer (*run)(const Command& command, const Arguments& arguments) = nullptr;
  /// Before the line is checked: takes from a file what the line leaves out.
  void (*prepare)(const Command& command, Arguments& arguments) = nullptr;
  /// Of a form that has a format of its own. Throws InputError where it cannot be written there.
  void (*check_output)(const std::string& output, const Environment& environment) = nullptr;
  bool words_are_files = false;
};

/// All forms. Of two that exclude each other, messages name the first one first.
std::span<const Form> forms();

/// Which of their options exclude each other, in all commands.
const std::vector<Exclusion>& exclusions_of_forms();

/// The form with a function that the arguments ask for; of several, which exclude each other, the first one. Null:
/// none.
const Form* form_with_function(const OptionValues& arguments);

/// What a command says, or the part of it that --only, --explain, --product, --map or --from asks for.
Answer ordinary_answer(const Command& command, const Arguments& arguments);

}  // namespace attn
