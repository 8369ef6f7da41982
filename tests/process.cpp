#include "process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

// A file descriptor that is closed when it is no longer needed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) { REQUIRE(number_ >= 0); }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// A file without a name, in memory: unlike a pipe it is never full.
int nameless_file() { return memfd_create("attn-test", MFD_CLOEXEC); }

std::string contents_of(const Descriptor& file) {
  const off_t size = lseek(file.number(), 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  REQUIRE(pread(file.number(), bytes.data(), bytes.size(), 0) == size);
  return bytes;
}

std::vector<std::string> environment(const Surroundings& surroundings) {
  std::map<std::string, std::string> variables = {{"LANG", "C.UTF-8"}, {"TERM", "xterm"}};
  // They say where sanitizers write their reports (sanitizers.sh).
  for (const char* const name : {"ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name)) variables[name] = value;
  }
  for (const auto& [name, value] : surroundings.variables) variables[name] = value;
  std::vector<std::string> settings;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) settings.push_back(name + "=" + value);
  }
  return settings;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A running attn.
class Process {
 public:
  Process(const Words& words, const Surroundings& surroundings, int output)
      : Process(words, surroundings, output, nameless_file()) {}

  // With an input of its own, which it closes.
  Process(const Words& words, const Surroundings& surroundings, int output, int input)
      : input_(input),
        unreadable_(!surroundings.errors_path.empty()),
        errors_(!unreadable_ ? nameless_file() : open(surroundings.errors_path.c_str(), O_WRONLY | O_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(surroundings.input.size());
    if (size > 0) REQUIRE(pwrite(input_.number(), surroundings.input.data(), surroundings.input.size(), 0) == size);
    std::vector<std::string> command = {tested_program().string()}, settings = environment(surroundings);
    if (!surroundings.shell.empty())
      command = {"/bin/sh", "-c", surroundings.shell + "; exec \"$0\" \"$@\"", tested_program().string()};
    const std::string program = command.front();
    command.insert(command.end(), words.begin(), words.end());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input_.number(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors_.number(), STDERR_FILENO);
    const int failure = posix_spawn(&id_, program.c_str(), &actions, nullptr, pointers_to(command).data(),
                                    pointers_to(settings).data());
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE(failure == 0);
  }

  void send(int signal) const { kill(id_, signal); }

  void close_input() { input_.close(); }

  // Waits until it has ended.
  ProcessResult finish() {
    int status = 0;
    rusage used{};
    REQUIRE(wait4(id_, &status, 0, &used) == id_);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const auto seconds_of = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return {.code = code,
            .out = "",
            .errors = unreadable_ ? "" : contents_of(errors_),
            .seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
            .kilobytes = static_cast<std::size_t>(used.ru_maxrss)};
  }

 private:
  Descriptor input_;
  bool unreadable_;
  Descriptor errors_;
  pid_t id_ = 0;
};

}  // namespace

const std::filesystem::path& tested_program() {
  static const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "attn";
  return program;
}

// Each program with an address sanitizer has it.
extern "C" [[gnu::weak]] void __asan_init();

bool is_sanitized() { return __asan_init != nullptr; }

std::string without_privileges() {
  return geteuid() == 0 ? "exec setpriv --bounding-set=-all --inh-caps=-all \"$0\" \"$@\"" : "true";
}

ProcessResult run_attn(const Words& words, const Surroundings& surroundings) {
  if (!surroundings.output_path.empty()) {
    const Descriptor file(open(surroundings.output_path.c_str(), O_WRONLY | O_CLOEXEC));
    return Process(words, surroundings, file.number()).finish();
  }
  const Descriptor file(nameless_file());
  ProcessResult finished = Process(words, surroundings, file.number()).finish();
  finished.out = contents_of(file);
  return finished;
}

doctest::skip needs_terminals() {
  int ours = -1, theirs = -1;
  const bool have = openpty(&ours, &theirs, nullptr, nullptr, nullptr) == 0;
  if (have) {
    close(ours);
    close(theirs);
  }
  return doctest::skip(!have);
}

doctest::skip needs_limited_memory() { return doctest::skip(is_sanitized()); }

ProcessResult run_attn_on_terminal(const Words& words, unsigned short columns, const Surroundings& surroundings) {
  winsize size{};
  size.ws_col = columns;
  size.ws_row = surroundings.rows;
  int ours = -1, theirs = -1;
  REQUIRE(openpty(&ours, &theirs, nullptr, nullptr, &size) == 0);
  const Descriptor reader(ours);
  Descriptor terminal(theirs);
  Process process(words, surroundings, terminal.number());
  terminal.close();
  std::string out;
  char piece[4096];
  for (ssize_t came = 0; (came = read(reader.number(), piece, sizeof piece)) > 0;) {
    out.append(piece, static_cast<std::size_t>(came));
  }
  ProcessResult finished = process.finish();
  finished.out = std::move(out);
  std::erase(finished.out, '\r');
  return finished;
}

ProcessResult run_attn_into_closed_pipe(const Words& words) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  Descriptor reader(ends[0]), writer(ends[1]);
  Process process(words, {}, writer.number());
  writer.close();
  char first = 0;
  CHECK(read(reader.number(), &first, 1) == 1);
  reader.close();
  return process.finish();
}

ProcessResult run_attn_into_unread_pipe(const Words& words) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  Descriptor reader(ends[0]), writer(ends[1]);
  reader.close();
  return Process(words, {}, writer.number()).finish();
}

ProcessResult run_attn_and_signal(const Words& words, unsigned microseconds, int signal,
                                  const Surroundings& surroundings) {
  const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Process process(words, surroundings, nowhere.number());
  usleep(microseconds);
  process.send(signal);
  return process.finish();
}

ProcessResult converse_with_attn(const Words& words, const std::vector<Turn>& turns, const Surroundings& surroundings) {
  constexpr char end_of_input = '\x04', erase_line = '\x15';
  constexpr int moment = 1000, most_moments = 20;  // milliseconds of silence
  winsize size{};
  size.ws_col = 80;
  size.ws_row = surroundings.rows;
  int ours = -1, theirs = -1;
  REQUIRE(openpty(&ours, &theirs, nullptr, nullptr, &size) == 0);
  const Descriptor terminal(ours);
  fcntl(ours, F_SETFD, FD_CLOEXEC);
  fcntl(theirs, F_SETFD, FD_CLOEXEC);
  Descriptor output(dup(theirs));
  fcntl(output.number(), F_SETFD, FD_CLOEXEC);
  ProcessResult finished;
  {
    Surroundings colorless = surroundings;  // what is awaited is words
    colorless.variables.try_emplace("NO_COLOR", "1");
    Process process(words, colorless, output.number(), theirs);
    output.close();
    process.close_input();
    std::string out;
    std::size_t seen = 0;
    auto turn = turns.begin();
    char piece[4096];
    int silent = 0;
    for (;;) {
      pollfd ready{terminal.number(), POLLIN, 0};
      if (poll(&ready, 1, moment) == 0) {
        if (++silent == most_moments) process.send(SIGKILL);
        // An end that was typed while the terminal changed from lines to keys is lost, and may have left
        // something in the line, in which it would not be an end.
        if (turn == turns.end()) {
          REQUIRE(write(terminal.number(), &erase_line, 1) == 1);
          REQUIRE(write(terminal.number(), &end_of_input, 1) == 1);
        }
        continue;
      }
      if (turn != turns.end()) silent = 0;
      const ssize_t came = read(terminal.number(), piece, sizeof piece);
      if (came <= 0) break;
      out.append(piece, static_cast<std::size_t>(came));
      while (turn != turns.end()) {
        const std::size_t at = out.find(turn->awaited, seen);
        if (at == std::string::npos) break;
        seen = at + turn->awaited.size();
        const auto length = static_cast<ssize_t>(turn->typed.size());
        REQUIRE(write(terminal.number(), turn->typed.data(), turn->typed.size()) == length);
        ++turn;
        if (turn == turns.end()) REQUIRE(write(terminal.number(), &end_of_input, 1) == 1);
      }
    }
    finished = process.finish();
    finished.out = std::move(out);
  }
  std::erase(finished.out, '\r');
  return finished;
}

std::string command_line(const Words& words) {
  std::string line = "attn";
  for (const std::string& word : words) line += " '" + word + "'";
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return line;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "attn-process-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return path(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path << " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}
