// A subcommand declares its options on the parser and leaves an action, which runs after parsing.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace strato::cli {

// Exit statuses: part of the stable interface.
enum Status : int {
  Done = 0,
  Infeasible = 1,
  BadInput = 2,
  ExternalFailure = 3,
  InternalError = 70
};

struct Command {
  std::function<int()> action;
  bool json = false;  // one JSON object and nothing else on standard output
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

// Adds a subcommand with the flag --json.
CLI::App* add_command(CLI::App& app, Command& command, const std::string& name,
                      const std::string& help);

void add_inspect(CLI::App& app, Command& command);
void add_plan(CLI::App& app, Command& command);
void add_simulate(CLI::App& app, Command& command);
void add_check_throughput(CLI::App& app, Command& command);
void add_compare(CLI::App& app, Command& command);
void add_study(CLI::App& app, Command& command);
void add_profile(CLI::App& app, Command& command);
void add_export(CLI::App& app, Command& command);
void add_diff(CLI::App& app, Command& command);
void add_discover(CLI::App& app, Command& command);
void add_fit(CLI::App& app, Command& command);
void add_launch(CLI::App& app, Command& command);
void add_list(CLI::App& app, Command& command);
void add_runs(CLI::App& app, Command& command);
void add_tags(CLI::App& app, Command& command);
void add_train(CLI::App& app, Command& command);
void add_trials(CLI::App& app, Command& command);
void add_tree(CLI::App& app, Command& command);
void add_tune(CLI::App& app, Command& command);
void add_what_if(CLI::App& app, Command& command);

}  // namespace strato::cli
