// What a test needs running beside it: a script that says "ready" in one line when it is, and takes
// everything down when its standard input ends, also when the test is killed.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/process/process.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"
#include "tests/paths.h"

namespace strato {

class Service {
 public:
  explicit Service(const std::vector<std::string>& arguments) : Service(arguments, Streams{}) {}
  ~Service() {
    leash_.close();
    process_.wait(std::chrono::seconds(30));
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  bool ready() const { return said_ == "ready"; }
  const std::string& said() const { return said_; }

 private:
  struct Streams {
    Pipe input = Pipe::make(), output = Pipe::make();
  };
  Service(const std::vector<std::string>& arguments, Streams streams)
      : process_(arguments, {streams.input.read.get(), streams.output.write.get(), STDERR_FILENO}),
        leash_(std::move(streams.input.write)) {
    streams.output.write.close();
    LineReader output(std::move(streams.output.read));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (said_.empty() && output.open() && std::chrono::steady_clock::now() < until) {
      output.read_more(std::chrono::milliseconds(100));
      said_ = output.take().value_or("");
    }
  }

  ChildProcess process_;
  Handle leash_;
  std::string said_;
};

// A service with a folder and free ports of its own: SCRIPT FOLDER PORT...
struct ClusterService {
  TemporaryFolder folder;
  Service service;

  // `script`: beside the tests of the launchers.
  ClusterService(const std::string& script, int ports) : service(arguments(script, ports)) {}

 private:
  std::vector<std::string> arguments(const std::string& script, int ports) const {
    std::vector<std::string> result = {
        std::string(kSourceFolder) + "/tests/plugins/launchers/" + script, folder.path().string()};
    for (int i = 0; i < ports; ++i) result.push_back(std::to_string(free_port()));
    return result;
  }
};

}  // namespace strato
