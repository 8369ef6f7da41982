#include "effects/provisional_name.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace attn {

namespace {

std::atomic<ProvisionalName*> first = nullptr;

// By themselves they end no program. (signal(7))
constexpr std::array harmless = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

// The program ends as if the signal had not been heeded.
extern "C" void leave_nothing_behind(int signal) {
  const int before = errno;
  ProvisionalName::remove_all();
  std::signal(signal, SIG_DFL);
  raise(signal);
  errno = before;
}

// What is ignored stays ignored, and what is heeded elsewhere stays so.
void heed_all_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    const bool may_end_it = std::ranges::find(harmless, signal) == harmless.end();
    if (!may_end_it || sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = leave_nothing_behind;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

ProvisionalName::ProvisionalName(std::string path) : path_(std::move(path)), next_(first) {
  if (!next_) heed_all_signals();
  first = this;
}

ProvisionalName::~ProvisionalName() {
  if (first == this) {
    first = next_;
    return;
  }
  for (ProvisionalName* other = first; other; other = other->next_) {
    if (other->next_ == this) other->next_ = next_;
  }
}

void ProvisionalName::remove_all() {
  for (const ProvisionalName* name = first; name; name = name->next_) unlink(name->path_.c_str());
}

}  // namespace attn
