#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/search/mcts/tree_search.h"

namespace strato {
namespace {

// As the paper has it, where it says; even shares and whole device groups only.
TreeSearchOptions paper_variant() {
  TreeSearchOptions options;
  options.normalise = false;
  options.relative_prior = false;
  options.max_backup = false;
  options.first_play = false;
  options.root_mix = 0;
  options.widening = 0;
  options.noise = 0;
  options.free_repeats = false;
  options.follow_first = false;
  options.graded_overflow = false;
  options.order_by_cost = false;
  options.polish = 0;
  options.bounds = options.sieve = options.decide = false;
  options.actions.proportional_shares = false;
  options.actions.single_devices = false;
  options.actions.part_groups = false;
  return options;
}

double in_range(const PlannerOptions& options, const char* key, double fallback, double low,
                double high) {
  const double value = options.number(key, fallback);
  if (value >= low && value <= high) return value;
  throw InputError("", std::string("--set ") + key + "=" + options.text(key, ""),
                   "the value is out of range",
                   fmt::format("give a number from {} to {}", low, high));
}

std::int64_t whole_in_range(const PlannerOptions& options, const char* key, std::int64_t fallback,
                            std::int64_t low, std::int64_t high) {
  const std::int64_t value = options.integer(key, fallback);
  if (value >= low && value <= high) return value;
  throw InputError(
      "", std::string("--set ") + key + "=" + options.text(key, ""), "the value is out of range",
      "give a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

TreeSearchOptions TreeSearchOptions::from(const PlannerOptions& given) {
  const bool paper = given.choice("variant", "default", {"default", "paper"}) == "paper";
  TreeSearchOptions options = paper ? paper_variant() : TreeSearchOptions();
  options.c = in_range(given, "c", options.c, 0, 1e6);
  options.normalise = given.boolean("normalise", options.normalise);
  options.low_quantile = in_range(given, "low-quantile", options.low_quantile, 0, 0.99);
  options.relative_prior = given.boolean("relative-prior", options.relative_prior);
  options.max_backup =
      given.choice("backup", options.max_backup ? "max" : "mean", {"mean", "max"}) == "max";
  options.first_play = given.boolean("first-play", options.first_play);
  options.fpu = in_range(given, "fpu", options.fpu, -10, 10);
  options.root_mix = in_range(given, "root-mix", options.root_mix, 0, 1);
  options.widening = in_range(given, "widening", options.widening, 0, 1e6);
  options.noise = in_range(given, "noise", options.noise, 0, 1e6);
  options.free_repeats = given.boolean("free-repeats", options.free_repeats);
  options.follow_first = given.boolean("follow-first", options.follow_first);
  options.graded_overflow = given.boolean("graded", options.graded_overflow);
  options.order_by_cost = given.choice("order", options.order_by_cost ? "cost" : "compute",
                                       {"cost", "compute"}) == "cost";
  options.polish = in_range(given, "polish", options.polish, 0, 0.95);
  options.bounds = given.boolean("bounds", options.bounds);
  options.sieve = given.boolean("sieve", options.sieve);
  options.decide = given.boolean("decide", options.decide);
  options.batch = static_cast<int>(whole_in_range(given, "batch", options.batch, 1, 4096));
  options.actions.proportional_shares =
      given.choice("shares", options.actions.proportional_shares ? "both" : "even",
                   {"both", "even"}) == "both";
  options.actions.merge_symmetric = given.boolean("merge", options.actions.merge_symmetric);
  options.actions.single_devices = given.boolean("single-devices", options.actions.single_devices);
  options.actions.part_groups = given.boolean("part-groups", options.actions.part_groups);
  options.actions.max_sets = static_cast<std::size_t>(whole_in_range(
      given, "max-sets", static_cast<std::int64_t>(options.actions.max_sets), 1, 65535));
  return options;
}

std::vector<OptionHelp> TreeSearchOptions::help() {
  const TreeSearchOptions d;
  const auto number = [](double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  const auto boolean = [](bool value) { return std::string(value ? "true" : "false"); };
  return {
      {"variant", "default", "default, or paper: exactly TAG 4.2.2 (other keys override it)"},
      {"c", number(d.c), "weight of exploration in PUCT"},
      {"normalise", boolean(d.normalise), "map values to [0, 1] over the tree"},
      {"low-quantile", number(d.low_quantile), "quantile of the rewards that becomes 0"},
      {"relative-prior", boolean(d.relative_prior), "priors relative to a uniform one"},
      {"backup", d.max_backup ? "max" : "mean",
       "value of a vertex: mean or max of the rewards below"},
      {"first-play", boolean(d.first_play),
       "an unvisited action is worth its parent's value less fpu"},
      {"fpu", number(d.fpu), "see first-play"},
      {"root-mix", number(d.root_mix), "part of the first group's prior that is uniform"},
      {"widening", number(d.widening), "open actions <= widening * sqrt(visits); 0: all at once"},
      {"noise", number(d.noise), "ranks by which the seed moves actions of equal prior"},
      {"free-repeats", boolean(d.free_repeats), "strategies known already cost no iteration"},
      {"follow-first", boolean(d.follow_first), "try the first group's decision first"},
      {"graded", boolean(d.graded_overflow), "infeasible: reward says how far over memory"},
      {"order", d.order_by_cost ? "cost" : "compute",
       "groups after the first: by compute and synchronisation, or by compute alone"},
      {"polish", number(d.polish), "part of the evaluations spent on local improvement"},
      {"bounds", boolean(d.bounds),
       "few strategies: in the order of their bounds, until nothing is faster"},
      {"sieve", boolean(d.sieve),
       "local improvement evaluates nothing whose bound is no better (needs bounds)"},
      {"decide", boolean(d.decide),
       "strategies that a prior decides as a whole are tried (needs polish)"},
      {"batch", std::to_string(d.batch), "leaves evaluated together"},
      {"shares", "both", "both: also shares in proportion to speed; even: equal shares only"},
      {"merge", boolean(d.actions.merge_symmetric), "merge symmetric device groups"},
      {"single-devices", boolean(d.actions.single_devices), "every device alone is an action"},
      {"part-groups", boolean(d.actions.part_groups), "half, a quarter... of a device group"},
      {"max-sets", std::to_string(d.actions.max_sets),
       "most sets of device groups; above: plausible ones"},
  };
}

}  // namespace strato
