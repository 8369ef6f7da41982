#pragma once

#include <string_view>

namespace attn {

/// What the program tells its caller with a number.
struct ExitCode {
  int code;
  std::string_view meaning;
};

namespace exit_code {
inline constexpr ExitCode success{0, "what was asked for was done"};
inline constexpr ExitCode failed{
    1,
    "a check failed, a matrix differed, an answer to a lesson was wrong, or the output could not be written"};
inline constexpr ExitCode wrong_input{
    2, "the command line, or a file that it names, is wrong; or there is not enough memory"};
inline constexpr ExitCode defect{70, "a defect of attn"};
}  // namespace exit_code

/// In the order of help.
inline constexpr const ExitCode* exit_codes[] = {&exit_code::success, &exit_code::failed,
                                                 &exit_code::wrong_input, &exit_code::defect};

}  // namespace attn
