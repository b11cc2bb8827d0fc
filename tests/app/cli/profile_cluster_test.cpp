// Measuring over a cluster by real processes, and planning with what was measured.
#include <gtest/gtest.h>

#include <set>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

fs::path two_devices(const TemporaryFolder& folder, int count = 2) {
  const Json cluster = {
      {"format", "stratoscope-cluster"},
      {"version", 1},
      {"name", "two cores"},
      {"gpu_types",
       {{{"name", "cpu"},
         {"memory_bytes", std::int64_t{8} << 30},
         {"memory_bandwidth_GBps", 8},
         {"peak_tflops", {{"fp32", 0.05}}}}}},
      {"machines",
       {{{"name", "core"},
         {"count", count},
         {"gpus", {{{"type", "cpu"}, {"count", 1}}}},
         {"nic", {{"kind", "loopback"}, {"bandwidth_GBps", 1.5}, {"latency_us", 60}}}}}},
      {"network", {{"latency_us", 1}}}};
  write_file(folder / "cluster.json", cluster.dump());
  return folder / "cluster.json";
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

TEST(ProfileCluster, RefusesBadInput) {
  TemporaryFolder folder;
  const std::string cluster = two_devices(folder), lenet = sample_model("lenet");
  const auto refused = [&](const std::vector<std::string>& more,
                           const std::vector<std::string>& parts) {
    expect_refused(joined({"profile", "--cluster", cluster}, more), parts);
  };
  refused({"--engine", "abacus"}, {"--engine", "there is no \"abacus\""});
  refused({"--transport", "pigeon"}, {"--transport", "there is no \"pigeon\""});
  refused({"--launcher", "rocket"}, {"rocket"});
  refused({"--set", "cores"}, {"--set"});
  refused({"--set", "partition=gpu"}, {"no setting of the launcher local"});
  refused({"--budget", "0"}, {"--budget"});
  refused({"--budget", "soon"}, {"--budget"});
  refused({"--largest", "1024"}, {"--largest"});
  refused({"--graph", lenet, "--batch", "4", "-o", lenet}, {"also another file"});
  refused({"-o", folder / "cluster.json"}, {"also another file"});
  refused({"--merge", folder / "absent.json"}, {"absent.json"});
  expect_refused({"profile"}, {"--graph"});
  expect_refused({"profile", "--graph", lenet, "--batch", "4", "--launcher", "local"},
                 {"--cluster"});
  expect_refused({"profile", "--cluster", two_devices(folder, 1)}, {"nothing to measure"});
}

#ifdef STRATO_GLOO

// Small messages are measured in a second, unless the machine stands still for some.
constexpr const char* kAmple = "60s";

std::vector<std::string> measure(const std::string& cluster, const std::vector<std::string>& more) {
  return joined(
      {"profile", "--cluster", cluster, "--budget", kAmple, "--largest", "65536", "--json"}, more);
}

TEST(ProfileCluster, MeasuresCommunicationWithoutAModel) {
  TemporaryFolder folder;
  const std::string cluster = two_devices(folder);
  const Json json = json_of(run_cli(measure(cluster, {"-o", folder / "p.json"})));
  EXPECT_EQ(json["transfers"].size(), 2u);
  EXPECT_EQ(json["collectives"].size(), 3u);
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["signatures"], 0);
  EXPECT_GT(json["transfers"][0]["bandwidth_Bps"].get<double>(), 0);
  const Json file = Json::parse(read_file(folder / "p.json"));
  EXPECT_EQ(file["transfers"].size(), 2u);
  EXPECT_EQ(file["collectives"][0]["devices"].size(), 2u);
}

#ifdef STRATO_TORCH

std::set<std::string> signatures_in(const fs::path& profile) {
  std::set<std::string> signatures;
  const Json json = Json::parse(read_file(profile));
  for (const Json& op : json["ops"]) signatures.insert(op["signature"]);
  return signatures;
}

TEST(ProfileCluster, ServesPlansAndMergesWithOtherProfiles) {
  TemporaryFolder folder;
  const std::string cluster = two_devices(folder), lenet = sample_model("lenet");
  const fs::path here = folder / "here.json", over = folder / "over.json",
                 both = folder / "both.json";
  const std::vector<std::string> model = {"--graph",       lenet, "--batch",     "8",
                                          "--repetitions", "2",   "--optimizer", "sgd"};
  json_of(run_cli(joined({"profile", "--json", "-o", here}, model)));
  const Json json = json_of(run_cli(joined(measure(cluster, {"-o", over}), model)));
  ASSERT_EQ(json["gpus"].size(), 1u);
  EXPECT_NEAR(json["gpus"][0]["time_covered"].get<double>(), 1, 1e-6);
  EXPECT_EQ(signatures_in(over), signatures_in(here));

  const CliResult merged = run_cli({"profile", "--cluster", cluster, "--budget", kAmple,
                                    "--largest", "4096", "--merge", here, "-o", both});
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(signatures_in(both), signatures_in(here));
  EXPECT_EQ(Json::parse(read_file(both))["transfers"].size(), 2u);

  const CliResult planned =
      run_cli({"plan", "--graph", lenet, "--batch", "8", "--cluster", cluster, "--planner",
               "dp-allreduce", "--optimizer", "sgd", "--profile", over, "--json"});
  EXPECT_GT(json_of(planned)["step_time_s"].get<double>(), 0);
}

TEST(ProfileCluster, CtrlCLeavesNothingBehind) {
  TemporaryFolder folder;
  OnTerminal program({"profile", "--graph", sample_model("lenet"), "--batch", "64", "--cluster",
                      two_devices(folder), "--budget", "600s", "-o", folder / "p.json"});
  ASSERT_TRUE(program.wait_for_text("of ", 1));
  EXPECT_EQ(program.interrupt(), 3);
  EXPECT_FALSE(fs::exists(folder / "p.json"));
}

#endif
#endif

}  // namespace
}  // namespace strato
