#include "core/math/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xtl/xtl_config.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/math/xtensor.hpp"
#include "core/math/xtensor_blas.hpp"
#include "core/support/text.hpp"

// OpenBLAS's own header contradicts the declarations that xtensor-blas brings.
extern "C" char* openblas_get_config();
extern "C" char* openblas_get_corename();

namespace attn {

namespace {

// --- machine

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// A file that holds one number; "max" in one of a cgroup is none.
std::optional<std::uint64_t> number_in_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return leading_number(line);
}

std::uint64_t bytes_left(std::uint64_t most, std::uint64_t taken) { return most - std::min(most, taken); }

std::uint64_t free_on_machine() {
  constexpr std::string_view label = "MemAvailable:";
  constexpr std::uint64_t kibibyte = 1024;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    const std::optional<std::uint64_t> number = leading_number(std::string_view(line).substr(label.size()));
    return number ? *number * kibibyte : unlimited;
  }
  return unlimited;
}

// Addresses count against both limits: what is not written to yet as well.
std::uint64_t free_of_process() {
  std::uint64_t most = unlimited;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      most = std::min<std::uint64_t>(most, limit.rlim_cur);
  }
  if (most == unlimited) return unlimited;
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes_left(most, number_in_file("/proc/self/statm").value_or(0) * page);
}

// The group itself and those around it, up to the root.
std::uint64_t free_in(std::string folder, const std::string& root, const char* limit, const char* usage) {
  std::uint64_t least = unlimited;
  while (folder.size() >= root.size()) {
    const std::optional<std::uint64_t> most = number_in_file(folder + limit);
    if (most) least = std::min(least, bytes_left(*most, number_in_file(folder + usage).value_or(0)));
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) break;
    folder.resize(slash);
  }
  return least;
}

// The kernel's documentation, Control Group v2 (memory.max) and Memory Resource Controller of v1.
std::uint64_t free_of_groups() {
  std::uint64_t least = unlimited;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    const std::string v2 = "/sys/fs/cgroup", v1 = "/sys/fs/cgroup/memory";
    if (controllers.empty()) {
      least = std::min(least, free_in(v2 + path, v2, "/memory.max", "/memory.current"));
    } else if (controllers == "memory") {
      least = std::min(least, free_in(v1 + path, v1, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
    }
  }
  return least;
}

// --- crew

std::size_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

thread_local bool takes_part = false;  // in a piece of work that is shared

// One piece of work: a thread that is free takes the next task.
class SharedWork {
 public:
  SharedWork(std::size_t count, const std::function<void(std::size_t)>& task)
      : count_(count), task_(task), failures_(count) {}

  void take_part() {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        task_(i);
      } catch (...) {
        failures_[i] = std::current_exception();
      }
    }
  }

  void throw_failure() const {
    for (const std::exception_ptr& failure : failures_) {
      if (failure) std::rethrow_exception(failure);
    }
  }

 private:
  std::size_t count_;
  const std::function<void(std::size_t)>& task_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::exception_ptr> failures_;
};

// Threads that wait for work. It is never destroyed: they end with the process.
class Crew {
 public:
  // Where the system allows fewer threads, those that it allows.
  explicit Crew(std::size_t asked_for) : asked_for_(asked_for) {
    // Signals are the first thread's, which blocks them while a file takes its name.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; others_ < asked_for; ++others_) std::thread([this] { wait_for_work(); }).detach();
    } catch (const std::system_error&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  std::size_t asked_for() const { return asked_for_; }

  void finish(SharedWork& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      working_ = others_;
      ++round_;
    }
    comes_.notify_all();
    takes_part = true;
    work.take_part();
    takes_part = false;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  [[noreturn]] void wait_for_work() {
    takes_part = true;
    std::size_t seen = 0;
    while (true) {
      SharedWork* work;
      {
        std::unique_lock lock(mutex_);
        comes_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
        work = work_;
      }
      work->take_part();
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) done_.notify_one();
    }
  }

  std::size_t asked_for_, others_ = 0;
  std::mutex mutex_;
  std::condition_variable comes_, done_;
  SharedWork* work_ = nullptr;
  std::size_t working_ = 0, round_ = 0;
};

std::size_t chosen = 0;  // 0: all processors

Crew& crew() {
  static Crew* one = nullptr;
  if (!one || one->asked_for() + 1 != threads()) one = new Crew(threads() - 1);
  return *one;
}

// --- libraries

// "0.3.21" of "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64".
std::string version_of_openblas() {
  const std::vector<std::string> words = split_at_any(openblas_get_config(), " ");
  return words.size() > 1 ? words[1] : "unknown";
}

}  // namespace

// --- machine

std::uint64_t free_memory() { return std::min({free_on_machine(), free_of_process(), free_of_groups()}); }

// --- crew

std::size_t threads() {
  static const std::size_t all = processors();
  return chosen ? chosen : all;
}

void use_threads(std::size_t count) { chosen = count; }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& task) {
  SharedWork work(count, task);
  if (threads() == 1 || count < 2 || takes_part) {
    work.take_part();
  } else {
    crew().finish(work);
  }
  work.throw_failure();
}

// --- libraries

std::vector<Library> libraries_of_math() {
  return {{"xtensor", fmt::format("{}.{}.{}", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH)},
          {"xtl", fmt::format("{}.{}.{}", XTL_VERSION_MAJOR, XTL_VERSION_MINOR, XTL_VERSION_PATCH)},
          {"xtensor-blas",
           fmt::format("{}.{}.{}", XTENSOR_BLAS_VERSION_MAJOR, XTENSOR_BLAS_VERSION_MINOR, XTENSOR_BLAS_VERSION_PATCH)},
          {"OpenBLAS", fmt::format("{}, kernel {}", version_of_openblas(), openblas_get_corename())},
          {"vector instructions", std::string(vector_instructions())},
          {"threads", std::to_string(threads())}};
}

}  // namespace attn
