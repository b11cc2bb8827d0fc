// Sets of small numbers that grow together (union-find).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/at.h"

namespace strato {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  void join(std::int32_t a, std::int32_t b) {
    a = root(a), b = root(b);
    parent_[at(std::max(a, b))] = std::min(a, b);  // roots are the smallest
  }
  std::int32_t root(std::int32_t of) {
    while (parent_[at(of)] != of) of = parent_[at(of)] = parent_[at(parent_[at(of)])];
    return of;
  }
  // The number of everyone's set, in the order of their first members; -1: alone.
  std::vector<std::int32_t> numbered() {
    std::vector<std::int32_t> size(parent_.size(), 0), number(parent_.size(), -1);
    for (const std::int32_t parent : parent_) ++size[at(root(parent))];
    std::int32_t next = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const std::size_t first = at(root(parent_[i]));
      if (size[first] < 2) continue;
      number[i] = first == i ? next++ : number[first];
    }
    return number;
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace strato
