// Strategies that are finished (TreeSearchOptions::finish) in some groups and plain in the others.
// A choice that is worth it for a gradient on its own may delay other transfers on the network, so
// that a search chooses group by group. Immutable.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

using GroupFlags = std::vector<bool>;  // by group id

class PartialFinish {
 public:
  // `finish` only adds to Strategy::duplicated. Empty: there is nothing to finish.
  PartialFinish(const Problem& problem, std::function<void(Strategy&)> finish);

  // `plain`, which duplicates nothing, finished in all groups but those of `left_out`.
  Strategy apply(Strategy plain, const GroupFlags& left_out) const;
  // Groups in which finishing changes something, those with most parameters first.
  std::vector<std::size_t> groups_of(const Strategy& plain) const;
  // Those of `left_out` in which finishing would change something.
  GroupFlags that_matter(const GroupFlags& left_out, const Strategy& plain) const;

 private:
  std::shared_ptr<const Grouping> grouping_;
  std::function<void(Strategy&)> finish_;
};

}  // namespace strato
