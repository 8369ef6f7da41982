#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The program as its users meet it: a process with words, standard input and an environment, no shell.

using Words = std::vector<std::string>;

/// The attn that is tested: that of the folder in which these tests were linked.
const std::filesystem::path& tested_program();

/// Whether these tests are linked with a library, and run a program, that were built with sanitizers.
bool is_sanitized();

/// What a process meets besides its words. Its environment is a UTF-8 locale, an ordinary terminal type, and
/// these variables; an empty one is not set at all.
struct Surroundings {
  std::string input = {};  // all of standard input
  std::map<std::string, std::string> variables = {};
  std::string output_path = {};  // standard output goes into this file, such as /dev/full
  std::string errors_path = {};  // and standard error into this one
  unsigned short rows = 0;       // of a terminal; 0: it does not know
  std::string shell = {};        // what a shell does to itself before it becomes attn, such as `ulimit`
};

/// What a process has left behind.
struct ProcessResult {
  int code = 0;               // 128 + signal when it was killed
  std::string out;            // standard output; of a terminal: all that it has received
  std::string errors;         // standard error
  double seconds = 0.0;       // of processors
  std::size_t kilobytes = 0;  // of memory, at most
};

/// What makes a shell become attn without root's right to pass over permissions; nothing where nobody has it.
std::string without_privileges();

/// Runs attn to its end.
ProcessResult run_attn(const Words& words, const Surroundings& surroundings = {});

/// Runs attn on a terminal of so many columns; 0: the terminal does not know.
ProcessResult run_attn_on_terminal(const Words& words, unsigned short columns, const Surroundings& surroundings = {});

/// Skips a test where pseudo-terminals cannot be had, as in a chroot without /dev/pts.
doctest::skip needs_terminals();

/// Skips a test that limits the memory of attn (`ulimit -v`) where it is built with sanitizers: these take
/// terabytes of addresses for themselves, and no program starts with less.
doctest::skip needs_limited_memory();

/// Runs attn into a pipe whose reader goes away after the first bytes.
ProcessResult run_attn_into_closed_pipe(const Words& words);

/// The same, where the reader has gone away before the first bytes.
ProcessResult run_attn_into_unread_pipe(const Words& words);

/// Runs attn and sends it a signal after so many microseconds.
ProcessResult run_attn_and_signal(const Words& words, unsigned microseconds, int signal,
                                  const Surroundings& surroundings = {});

/// What is typed once the terminal has shown something new that holds a text.
struct Turn {
  std::string awaited;
  std::string typed;
};

/// Runs attn at a terminal that is its input as well as its output, and types. Then the input ends.
ProcessResult converse_with_attn(const Words& words, const std::vector<Turn>& turns,
                                 const Surroundings& surroundings = {});

/// The words as one command line, for messages.
std::string command_line(const Words& words);

/// A folder of its own for a test, gone when the test is.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(std::string_view name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;
  /// The names of its files, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// All bytes of a file, which must be there.
std::string bytes_of(const std::string& path);
