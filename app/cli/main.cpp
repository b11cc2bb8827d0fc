// stratoscope-cli: the command line. Each subcommand is one file; here are parsing and exit
// statuses.
#include <CLI/CLI.hpp>
#include <new>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/suggest.h"
#include "core/base/error.h"

namespace strato::cli {

CLI::App* add_command(CLI::App& app, Command& command, const std::string& name,
                      const std::string& help) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->add_flag("--json", command.json, "Print one JSON object and nothing else");
  return sub;
}

namespace {

int complain(const char* message, int status) {
  remark(message);
  return status;
}

int run(Command& command) {
  try {
    const int status = command.action();
    flush_output();
    return status;
  } catch (const InputError& error) {
    return complain(error.what(), BadInput);
  } catch (const std::bad_alloc&) {
    return complain("the machine's memory is exhausted; take fewer groups or a smaller model",
                    BadInput);
  } catch (const std::exception& error) {
    return complain((std::string("internal error, please report it: ") + error.what()).c_str(),
                    InternalError);
  }
}

void declare(CLI::App& app, Command& command) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "stratoscope-cli " STRATOSCOPE_VERSION);
  add_inspect(app, command);
  add_plan(app, command);
  add_simulate(app, command);
  add_check_throughput(app, command);
  add_compare(app, command);
  add_study(app, command);
  add_profile(app, command);
  add_export(app, command);
  add_diff(app, command);
  add_discover(app, command);
  add_fit(app, command);
  add_launch(app, command);
  add_list(app, command);
  add_runs(app, command);
  add_tags(app, command);
  add_train(app, command);
  add_tree(app, command);
  add_trials(app, command);
  add_tune(app, command);
  add_what_if(app, command);
}

}  // namespace
}  // namespace strato::cli

int main(int argc, char** argv) {
  using namespace strato::cli;
  CLI::App app("Finds, simulates and explains strategies for distributed DNN training.",
               "stratoscope-cli");
  Command command;
  declare(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return complain(usage_problem(app, error, argc, argv).c_str(), BadInput);
  }
  return run(command);
}
