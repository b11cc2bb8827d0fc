#include "app/cli/simulation_options.h"

#include <CLI/CLI.hpp>

namespace strato::cli {

void declare_links(CLI::App& command, std::string& links, const std::string& of) {
  command.add_option("--links", links, of + "exclusive: one at a time; fair: shared max-min")
      ->capture_default_str()
      ->check(CLI::IsMember({"exclusive", "fair"}));
}

void SimulationOptions::declare(CLI::App& command, const std::string& order_help,
                                std::vector<std::string> orders) {
  command.add_option("--order", order, order_help)
      ->capture_default_str()
      ->check(CLI::IsMember(std::move(orders)));
  declare_links(command, links);
}

SimulateOptions SimulationOptions::options() const { return {order != "fifo", links == "fair"}; }

}  // namespace strato::cli
