// The options of one planning run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

struct Constraints;  // core/search/constraints/constraints.h

struct PlannerOptions {
  std::int64_t iterations = 800;  // evaluations, roughly; planners without a search ignore it
  double budget_seconds = 0;      // when positive: stop after this time instead of iterations
  std::uint64_t seed = 1;
  int threads = 0;                         // 0: one per core; the result does not depend on it
  std::map<std::string, std::string> set;  // planner's own options (--set key=value)
  // Complete strategies in the problem's groups that are known already: searches start from them,
  // other planners ignore them.
  std::vector<Strategy> seeds;
  // A person's demands on the result, whichever planner makes it: see run_planner. Null:
  // nothing.
  std::shared_ptr<const Constraints> constraints;
  // False: the planner's own result, even where a simple baseline is better (studies of papers).
  bool floor = true;
  bool record_steps = false;  // fill PlanResult::steps where the planner can; costs time and memory

  // Reads an own option; throws InputError for text that does not parse.
  std::string text(std::string_view key, std::string_view fallback) const;
  // One of `allowed`; anything else is an InputError that lists them.
  std::string choice(std::string_view key, std::string_view fallback,
                     std::initializer_list<std::string_view> allowed) const;
  double number(std::string_view key, double fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  bool boolean(std::string_view key, bool fallback) const;
};

}  // namespace strato
