// Options that say what a strategy has to keep to, whichever planner makes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/constraints/constraints.h"

namespace CLI {
class App;
}

namespace strato::cli {

struct ConstraintOptions {
  std::string file;
  std::vector<std::string> pins, forbidden, together, limits;

  // `who`: keeps to them, for the help.
  void declare(CLI::App& command, std::string_view who = "kept by every planner");
  // All of them; null without any. Throws InputError for what does not parse: names are looked up
  // when the problem is known.
  std::shared_ptr<const Constraints> read() const;
};

// Remarks on roles that are forbidden where the cluster has a device or device group of their name.
void remark_on_names(const Constraints& constraints, const Cluster& cluster);

}  // namespace strato::cli
