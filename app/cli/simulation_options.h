// How a plan is simulated: --order and --links of the commands that do.
#pragma once

#include <string>
#include <vector>

#include "core/sim/engine/simulate.h"

namespace CLI {
class App;
}

namespace strato::cli {

// "exclusive" or "fair"; `of` goes before the help: "Of the prediction: ".
void declare_links(CLI::App& command, std::string& links, const std::string& of = "");

struct SimulationOptions {
  std::string order = "priority", links = "exclusive";

  void declare(CLI::App& command, const std::string& order_help,
               std::vector<std::string> orders = {"fifo", "priority"});
  SimulateOptions options() const;
};

}  // namespace strato::cli
