#include "core/program/place/min_sum.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/at.h"

namespace strato {
namespace {

constexpr std::size_t kGone = std::numeric_limits<std::size_t>::max();  // it is eliminated

// Counts through all values of some variables, the last one fastest, and knows where each of some
// tables of them is.
class Odometer {
 public:
  Odometer(const std::vector<int>& variables, const std::vector<int>& sizes)
      : variables_(variables), values_(variables.size(), 0) {
    for (const int variable : variables) sizes_.push_back(sizes[at(variable)]);
  }

  void follow(const std::vector<int>& table_variables) {
    std::vector<std::size_t> steps(variables_.size(), 0);
    std::size_t step = 1;
    for (std::size_t i = table_variables.size(); i-- > 0;) {
      const auto found = std::ranges::lower_bound(variables_, table_variables[i]);
      const auto place = static_cast<std::size_t>(found - variables_.begin());
      steps[place] = step;
      step *= static_cast<std::size_t>(sizes_[place]);
    }
    steps_.push_back(std::move(steps));
    places_.push_back(0);
  }

  std::size_t place(std::size_t table) const { return places_[table]; }
  int value(std::size_t i) const { return values_[i]; }

  bool advance() {
    for (std::size_t i = variables_.size(); i-- > 0;) {
      const bool turns_over = ++values_[i] == sizes_[i];
      const auto back = static_cast<std::size_t>(sizes_[i] - 1);
      for (std::size_t table = 0; table < places_.size(); ++table)
        turns_over ? places_[table] -= steps_[table][i] * back : places_[table] += steps_[table][i];
      if (!turns_over) return true;
      values_[i] = 0;
    }
    return false;
  }

 private:
  const std::vector<int>& variables_;
  std::vector<int> sizes_, values_;
  std::vector<std::vector<std::size_t>> steps_;  // by table, by variable
  std::vector<std::size_t> places_;
};

}  // namespace

MinSum::MinSum(std::vector<int> sizes, std::size_t most_entries)
    : sizes_(std::move(sizes)),
      most_entries_(most_entries),
      tables_of_(sizes_.size()),
      made_(sizes_.size(), 1) {}

void MinSum::add(CostTable table) {
  for (const int variable : table.variables) tables_of_[at(variable)].push_back(tables_.size());
  tables_.push_back(std::move(table));
}

std::size_t MinSum::entries(const std::vector<int>& variables) const {
  std::size_t result = 1;
  for (const int variable : variables) {
    result *= static_cast<std::size_t>(sizes_[at(variable)]);
    if (result > most_entries_) return most_entries_ + 1;
  }
  return result;
}

std::vector<int> MinSum::others_of(int variable) const {
  std::vector<int> result;
  for (const std::size_t table : tables_of_[at(variable)])
    result.insert(result.end(), tables_[table].variables.begin(), tables_[table].variables.end());
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase(result, variable);
  return result;
}

void MinSum::look_again_at(const std::vector<int>& variables) {
  for (const int variable : variables) {
    std::vector<int> all = others_of(variable);
    all.push_back(variable);
    made_[at(variable)] = entries(all);
  }
}

// Removes the variable's tables from the lists of the others.
std::vector<std::size_t> MinSum::take_tables(int variable) {
  std::vector<std::size_t> taken = std::exchange(tables_of_[at(variable)], {});
  for (const std::size_t table : taken)
    for (const int other : tables_[table].variables)
      if (other != variable) std::erase(tables_of_[at(other)], table);
  return taken;
}

void MinSum::eliminate(int variable) {
  Eliminated eliminated{variable, others_of(variable), {}};
  std::vector<int> all = eliminated.others;
  all.insert(std::ranges::lower_bound(all, variable), variable);
  Odometer odometer(all, sizes_);
  const std::vector<std::size_t> taken = take_tables(variable);
  for (const std::size_t table : taken) odometer.follow(tables_[table].variables);
  odometer.follow(eliminated.others);
  const auto own = static_cast<std::size_t>(std::ranges::lower_bound(all, variable) - all.begin());

  const std::size_t size = entries(eliminated.others);
  CostTable least{eliminated.others, std::vector<RankedCost>(size)};
  eliminated.best.assign(size, -1);
  do {
    RankedCost sum;
    for (std::size_t i = 0; i < taken.size(); ++i)
      sum += tables_[taken[i]].costs[odometer.place(i)];
    const std::size_t place = odometer.place(taken.size());
    if (eliminated.best[place] >= 0 && sum >= least.costs[place]) continue;
    least.costs[place] = sum;
    eliminated.best[place] = odometer.value(own);
  } while (odometer.advance());

  for (const std::size_t table : taken) tables_[table] = {};
  made_[at(variable)] = kGone;
  if (!eliminated.others.empty()) add(std::move(least));
  look_again_at(eliminated.others);
  eliminated_.push_back(std::move(eliminated));
}

void MinSum::fix(int variable) {
  const auto size = static_cast<std::size_t>(sizes_[at(variable)]);
  const std::vector<int> others = others_of(variable);
  const std::vector<std::size_t> taken = take_tables(variable);
  std::vector<RankedCost> bound(size);
  const auto value_in = [&](const Odometer& odometer, const CostTable& table) {
    const auto own = std::ranges::lower_bound(table.variables, variable);
    return static_cast<std::size_t>(
        odometer.value(static_cast<std::size_t>(own - table.variables.begin())));
  };
  for (const std::size_t each : taken) {
    const CostTable& table = tables_[each];
    std::vector<std::optional<RankedCost>> least(size);
    Odometer odometer(table.variables, sizes_);
    std::size_t place = 0;
    do {
      auto& lowest = least[value_in(odometer, table)];
      if (!lowest || table.costs[place] < *lowest) lowest = table.costs[place];
      ++place;
    } while (odometer.advance());
    for (std::size_t value = 0; value < size; ++value) bound[value] += *least[value];
  }
  const auto best = static_cast<std::size_t>(std::ranges::min_element(bound) - bound.begin());
  for (const std::size_t each : taken) {
    const CostTable table = std::exchange(tables_[each], {});
    CostTable rest{table.variables, {}};
    std::erase(rest.variables, variable);
    Odometer odometer(table.variables, sizes_);
    std::size_t place = 0;
    do {
      if (value_in(odometer, table) == best) rest.costs.push_back(table.costs[place]);
      ++place;
    } while (odometer.advance());
    if (!rest.variables.empty()) add(std::move(rest));
  }
  made_[at(variable)] = kGone;
  look_again_at(others);
  eliminated_.push_back({variable, {}, {static_cast<std::int32_t>(best)}});
}

std::size_t MinSum::index(const std::vector<int>& variables, const std::vector<int>& values) const {
  std::size_t result = 0;
  for (const int variable : variables)
    result = result * static_cast<std::size_t>(sizes_[at(variable)]) +
             static_cast<std::size_t>(values[at(variable)]);
  return result;
}

std::vector<int> MinSum::solve() {
  std::vector<int> all(sizes_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  look_again_at(all);
  for (std::size_t left = all.size(); left > 0; --left) {
    const auto smallest = std::ranges::min_element(made_);
    if (*smallest <= most_entries_) {
      eliminate(static_cast<int>(smallest - made_.begin()));
      continue;
    }
    const auto neighbours = [&](int variable) {
      return made_[at(variable)] == kGone ? 0 : others_of(variable).size();
    };
    fix(*std::ranges::max_element(all, {}, neighbours));
  }
  std::vector<int> values(sizes_.size(), 0);
  for (std::size_t i = eliminated_.size(); i-- > 0;) {
    const Eliminated& each = eliminated_[i];
    values[at(each.variable)] = each.best[index(each.others, values)];
  }
  return values;
}

}  // namespace strato
