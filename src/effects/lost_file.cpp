#include "effects/lost_file.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "command/command.hpp"
#include "effects/provisional_name.hpp"

namespace attn {

namespace {

// Only what a handler of signals may do. (signal-safety(7))
extern "C" void tell_of_lost_file(int) {
  ProvisionalName::remove_all();
  constexpr std::string_view sentence =
      "attn: a file could not be read to its end: another program made it shorter meanwhile, or its disk fails\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, sentence.data(), sentence.size());
  _exit(exit_code::wrong_input.code);
}

}  // namespace

void end_where_a_file_is_lost() {
  struct sigaction action {};
  action.sa_handler = tell_of_lost_file;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace attn
