#include "peer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace attn {
namespace {

pid_t spawn(const std::vector<std::string>& command, const posix_spawn_file_actions_t& actions) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t process = 0;
  if (posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ) != 0) {
    throw std::runtime_error(command[0] + " could not be started");
  }
  return process;
}

}  // namespace

Peer::Peer(const std::string& program) {
  int request[2], answer[2];
  if (pipe2(request, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer[1], STDOUT_FILENO);
  process_ = spawn({"/usr/bin/python3", ATTN_BENCHMARK_FOLDER "/" + program}, actions);
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

PeerRun Peer::run(const std::string& request) {
  const std::string line = request + "\n";
  if (write(requests_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("the Python peer is gone");
  }
  std::string answer;
  char c = 0;
  while (read(answers_, &c, 1) == 1 && c != '\n') answer += c;
  const std::size_t blank = answer.find(' ');
  if (blank == std::string::npos)
    throw std::runtime_error("the Python peer is gone: are python3-numpy and python3-torch installed?");
  return {std::stod(answer), std::stod(answer.substr(blank))};
}

double seconds_of(const std::vector<std::string>& command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t process = spawn(command, actions);
  int status = 0;
  waitpid(process, &status, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  posix_spawn_file_actions_destroy(&actions);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(command[0] + " failed");
  return seconds;
}

}  // namespace attn
