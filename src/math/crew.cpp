#include "math/crew.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace attn {
namespace {

std::size_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

// One piece of work: a thread that is free takes the next task.
class Work {
 public:
  Work(std::size_t count, const std::function<void(std::size_t)>& task)
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

  void finish(Work& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      working_ = others_;
      ++round_;
    }
    comes_.notify_all();
    work.take_part();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  [[noreturn]] void wait_for_work() {
    std::size_t seen = 0;
    while (true) {
      Work* work;
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
  Work* work_ = nullptr;
  std::size_t working_ = 0, round_ = 0;
};

std::size_t chosen = 0;  // 0: all processors

Crew& crew() {
  static Crew* one = nullptr;
  if (!one || one->asked_for() + 1 != threads()) one = new Crew(threads() - 1);
  return *one;
}

}  // namespace

std::size_t threads() {
  static const std::size_t all = processors();
  return chosen ? chosen : all;
}

void use_threads(std::size_t count) {
  chosen = count;
}

void side_by_side(std::size_t count, const std::function<void(std::size_t)>& task) {
  Work work(count, task);
  if (threads() == 1 || count < 2) {
    work.take_part();
  } else {
    crew().finish(work);
  }
  work.throw_failure();
}

}  // namespace attn
