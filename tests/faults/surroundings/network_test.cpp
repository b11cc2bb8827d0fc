// A node that cannot be reached, from the start on or any more.
#include <unistd.h>

#include "core/launch/job/job_result.h"
#include "core/launch/process/process.h"
#include "tests/faults/fault_kit.h"

namespace strato {
namespace {

bool may_make_networks() {
  return ::geteuid() == 0 && fs::exists("/usr/sbin/ip") &&
         run_program({"unshare", "-n", "true"}, 10s).problem.empty();
}

TEST_F(Faults, ARankWithoutANetworkIsNamed) {
  if (!may_make_networks()) GTEST_SKIP() << "may not make networks";
  stage_job(folder.path(), job);
  const auto launched = launcher->launch(
      with_worker("[ $4 = 1 ] && exec unshare -n \"$worker\" --job \"$2\" --rank 1 --leash\n"
                  "exec \"$worker\" \"$@\""));
  expect_problem(*launched, "rank 1: ", "rank 0 does not answer at 127.0.0.1:");
}

// The two ends of a cable that is pulled while they run.
class Cable {
 public:
  Cable() {
    remove();
    run({"ip", "netns", "add", "strato-f0"});
    run({"ip", "netns", "add", "strato-f1"});
    run({"ip", "link", "add", "strato-fa", "netns", "strato-f0", "type", "veth", "peer", "name",
         "strato-fb", "netns", "strato-f1"});
    for (const std::string side : {"0", "1"}) {
      const std::string name = side == "0" ? "strato-fa" : "strato-fb";
      const std::string address = side == "0" ? "10.78.0.1/24" : "10.78.0.11/24";
      in(side, {"ip", "addr", "add", address, "dev", name});
      in(side, {"ip", "link", "set", name, "up"});
      in(side, {"ip", "link", "set", "lo", "up"});
    }
  }
  ~Cable() { remove(); }
  void pull() { in("1", {"ip", "link", "set", "strato-fb", "down"}); }
  const std::string& problem() const { return problem_; }

 private:
  void run(const std::vector<std::string>& arguments) {
    const auto result = run_program(arguments, 10s);
    if (problem_.empty() && !result.problem.empty())
      problem_ = arguments[0] + " " + result.problem + result.error;
  }
  void in(const std::string& side, std::vector<std::string> arguments) {
    const std::vector<std::string> enter = {"ip", "netns", "exec", "strato-f" + side};
    arguments.insert(arguments.begin(), enter.begin(), enter.end());
    run(arguments);
  }
  static void remove() {
    for (const char* name : {"strato-f0", "strato-f1"})
      run_program({"ip", "netns", "del", name}, 10s);
  }

  std::string problem_;
};

TEST_F(Faults, AMachineThatCannotBeReachedAnyMoreIsNamed) {
  if (!may_make_networks()) GTEST_SKIP() << "may not make networks";
  Cable cable;
  if (!cable.problem().empty()) GTEST_SKIP() << cable.problem();
  endless();
  stage_job(folder.path(), job);
  LaunchRequest apart = request();
  apart.settings = {{"namespace", "strato-f0,strato-f0,strato-f1"},
                    {"address", "10.78.0.1,10.78.0.1,10.78.0.11"}};
  const auto launched = launcher->launch(apart);
  wait_for(*launched, JobEvent::Kind::Step);
  cable.pull();
  ASSERT_EQ(cable.problem(), "");
  expect_problem(*launched, "rank 2: gives no sign of life", "cannot be reached");
}

}  // namespace
}  // namespace strato
