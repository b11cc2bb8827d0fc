// Chooses a value for each of many variables so that a sum of tables, each of a few variables, is
// least: variable elimination (Dechter 1999, "Bucket elimination", 4; the dynamic program over a
// tree decomposition), smallest table first. Not thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strato {

// What is least first, and what of equals is.
struct RankedCost {
  std::int64_t cost = 0;
  std::int64_t tie = 0;

  friend auto operator<=>(const RankedCost&, const RankedCost&) = default;
  RankedCost& operator+=(const RankedCost& other) {
    cost += other.cost;
    tie += other.tie;
    return *this;
  }
};

// Variables in ascending order; the values of the last one are next to each other.
struct CostTable {
  std::vector<int> variables;
  std::vector<RankedCost> costs;
};

class MinSum {
 public:
  // `sizes`: how many values each variable has, at least one. Sums of costs have to fit in 64 bits.
  // The minimum is exact unless a table of more than `most_entries` would be made. Then the
  // variable with the most neighbours is given the value that is best if all others could follow
  // it, and so on until tables are small enough.
  MinSum(std::vector<int> sizes, std::size_t most_entries);

  void add(CostTable table);
  // How many entries a table of these variables has, or more than `most_entries`.
  std::size_t entries(const std::vector<int>& variables) const;
  std::size_t most_entries() const { return most_entries_; }

  // The value of each variable; the lower one where that makes no difference. Once.
  std::vector<int> solve();

 private:
  struct Eliminated {
    int variable = 0;
    std::vector<int> others;  // ascending: what its best value depends on
    std::vector<std::int32_t> best;
  };

  std::vector<int> others_of(int variable) const;
  void look_again_at(const std::vector<int>& variables);
  std::vector<std::size_t> take_tables(int variable);
  void eliminate(int variable);
  void fix(int variable);
  std::size_t index(const std::vector<int>& variables, const std::vector<int>& values) const;

  std::vector<int> sizes_;
  std::size_t most_entries_;
  std::vector<CostTable> tables_;
  std::vector<std::vector<std::size_t>> tables_of_;  // by variable
  std::vector<std::size_t> made_;                    // by variable: entries if it is eliminated
  std::vector<Eliminated> eliminated_;
};

}  // namespace strato
