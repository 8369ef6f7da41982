#include "peer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

extern char** environ;

namespace attn {

Peer::Peer(const std::string& program) {
  int request[2], answer[2];
  if (pipe2(request, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer[1], STDOUT_FILENO);
  // Debian's PyTorch belongs to Debian's python3, which need not be the first one on the path.
  std::string python = "/usr/bin/python3", path = ATTN_BENCHMARK_FOLDER "/" + program;
  char* const words[] = {python.data(), path.data(), nullptr};
  if (posix_spawn(&process_, words[0], &actions, nullptr, words, environ) != 0) {
    throw std::runtime_error(python + " could not be started");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(request[0]);
  close(answer[1]);
  requests_ = request[1];
  answers_ = answer[0];
}

Peer::~Peer() {
  close(requests_);
  close(answers_);
  waitpid(process_, nullptr, 0);
}

double Peer::seconds_of(const std::string& request) {
  const std::string line = request + "\n";
  std::string answer;
  if (write(requests_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    char c = 0;
    while (read(answers_, &c, 1) == 1 && c != '\n') answer += c;
  }
  if (answer.empty()) throw std::runtime_error("the Python peer is gone: is python3-torch installed?");
  return std::stod(answer);
}

}  // namespace attn
