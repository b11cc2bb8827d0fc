// Options that say what a strategy has to keep to, whichever planner makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/search/constraints/constraints.h"

namespace CLI {
class App;
}

namespace strato::cli {

struct ConstraintOptions {
  std::string file;
  std::vector<std::string> pins, forbidden, together, limits;

  void declare(CLI::App& command);
  // All of them; null without any. Throws InputError for what does not parse: names are looked up
  // when the problem is known.
  std::shared_ptr<const Constraints> read() const;
};

}  // namespace strato::cli
