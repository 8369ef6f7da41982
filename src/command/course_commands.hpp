#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/prompt.hpp"

namespace attn {

// What the commands of the course share: its progress, and its terminal.

/// A page of these blocks.
Answer page_of(std::vector<Block> blocks);

/// Passed where all hand-ins are good.
Verdict verdict_on(std::span<const MarkedHandIn> marks);

/// The file that keeps the progress; nothing where there is no folder for it.
std::optional<std::string> state_file(const Arguments& arguments);
/// The same. Throws InputError where there is no folder for it.
std::string state_to_write(const Arguments& arguments);

/// What it holds; nothing where there is no such file.
ProgressFile progress_so_far(const Arguments& arguments);

/// Changes the progress once the page is written, where there is a folder for it.
Afterwards changing_progress(const Arguments& arguments, std::function<void(CourseProgress& progress)> change);

/// The answer, with a warning where the file of the progress is damaged. A session makes room for another
/// file; a page can only say what it has found.
Answer with_warning(Answer answer, const ProgressFile& file, const Arguments& arguments);

/// Whether something can be asked, and no page was asked for.
bool at_terminal(const Arguments& arguments);

/// Does this at the terminal instead of writing a page.
Answer interactive(const Arguments& arguments, std::function<void(LessonTerminal& terminal)> action);

// What those that have actions share.

/// Options that change nothing there are refused, with the actions that take them: all that some action takes,
/// except `taken`. `typed` is what takes only these. Throws InputError.
void refuse_idle(const Command& command, const std::string& typed, std::span<const Option* const> taken,
                 const Arguments& arguments);

/// Runs an action. Throws InputError: too few words or too many, an option that only other actions take.
Answer run_action(const Command& command, const Action& action, const Arguments& arguments);

/// Throws InputError if there is a file already, unless --yes is given.
void refuse_to_replace(const std::string& path, const Arguments& arguments);

/// Markdown as it is printed, where no file is to be written.
Block printed_markdown(const std::string& markdown);

/// What an author begins with, printed, or written to the file that the second word names. `what` is
/// "a lesson"; then come the commands that check it and take it. Throws InputError.
Answer begin_document(std::string_view what, const std::function<std::string(const std::string& path)>& document,
                      const std::array<std::string_view, 2>& commands, const Arguments& arguments);

}  // namespace attn
