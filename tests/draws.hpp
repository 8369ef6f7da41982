#pragma once

#include <chrono>
#include <cstdlib>
#include <random>
#include <ranges>
#include <utility>
#include <vector>

namespace attn {

/// Whether a test draws all of its random problems, and takes all of its cases: the environment has ATTN_ALL_SEEDS. An
/// ordinary run draws the first few of the same ones, and takes as many cases as there is time for.
inline bool draws_all() {
  const char* const all = std::getenv("ATTN_ALL_SEEDS");
  return all && *all;
}

/// A few of them, or all.
template <class Count>
Count drawn(Count few, Count all) {
  return draws_all() ? all : few;
}

/// What a test has time for of a list whose elements take long: at least one, then others until its seconds are over,
/// from a place on that every run draws anew. With ATTN_ALL_SEEDS it is all of them.
///
///     for (const Lesson& lesson : SomeOf(built_in_lessons())) …
template <std::ranges::random_access_range List>
class SomeOf {
 public:
  explicit SomeOf(List&& list, std::chrono::seconds most = std::chrono::seconds(2))
      : list_(std::forward<List>(list)), most_(most) {}

  class Iterator {
   public:
    explicit Iterator(SomeOf& some) : some_(some) {}
    decltype(auto) operator*() const {
      return std::ranges::begin(some_.list_)[static_cast<std::ptrdiff_t>((some_.first_ + taken_) % some_.count())];
    }
    Iterator& operator++() {
      ++taken_;
      return *this;
    }
    bool operator==(std::default_sentinel_t) const {
      return taken_ == some_.count() || (taken_ > 0 && !draws_all() && Clock::now() - some_.begun_ > some_.most_);
    }

   private:
    SomeOf& some_;
    std::size_t taken_ = 0;
  };

  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t count() const { return std::ranges::size(list_); }

  List list_;
  std::chrono::seconds most_;
  Clock::time_point begun_ = Clock::now();
  std::size_t first_ = draws_all() ? 0 : std::random_device()();
};

template <class List>
SomeOf(List&&) -> SomeOf<List>;
template <class List>
SomeOf(List&&, std::chrono::seconds) -> SomeOf<List>;

}  // namespace attn
