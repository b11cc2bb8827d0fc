// Discovery by real workers: of this machine, under a Slurm of two nodes and over SSH, which the
// test starts, each where there is one to start.
#include "core/launch/discover/discover.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/launch/measure/measure_job.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/message_of.h"
#include "tests/paths.h"
#include "tests/plugins/launchers/service.h"

namespace strato {
namespace {

class Discover : public ::testing::Test {
 protected:
  DiscoverOptions options(const std::string& launcher) const {
    DiscoverOptions options;
    options.launcher = launcher;
    options.folder = folder.path();
    options.worker = STRATO_WORKER;
    options.source = "a test";
    return options;
  }
  Discovered run(const DiscoverOptions& options, const std::stop_token& stop = {}) {
    return discover(*plugins.launcher(options.launcher), options, GpuCatalogue::bundled(), stop,
                    [&](const std::string& text) { told.push_back(text); });
  }
  static Cluster read(const Discovered& found) {
    return parse_cluster(found.cluster, "test", GpuCatalogue::bundled());
  }
  void SetUp() override { ::unsetenv("LD_LIBRARY_PATH"); }

  TemporaryFolder folder;
  std::vector<std::string> told;
  PluginRegistry plugins{{std::filesystem::path(kBuildFolder) / "plugins"}};
};

TEST_F(Discover, ThisMachine) {
  DiscoverOptions here = options("local");
  here.name = "Here";
  const Discovered found = run(here);
  ASSERT_EQ(found.state, JobState::Finished) << found.problem;
  const Cluster cluster = read(found);
  EXPECT_EQ(cluster.name(), "Here");
  EXPECT_TRUE(std::filesystem::exists(folder / "log-0.txt"));
  EXPECT_EQ(cluster.machines().size(), 1u);
  EXPECT_FALSE(told.empty());
}

// The driver of the workers' GPUs is the test's own.
TEST_F(Discover, TheGpusOfThisMachine) {
  ::setenv("LD_LIBRARY_PATH", STRATO_FAKE_NVML_FOLDER, 1);
  ::setenv("STRATO_FAKE_NVML", "v100", 1);
  const Discovered found = run(options("local"));
  ASSERT_EQ(found.state, JobState::Finished) << found.problem;
  EXPECT_EQ(read(found).device_count(), 8u);
  EXPECT_TRUE(found.remarks.empty());
}

// Hands the first job on, and refuses the second, once it has looked at it.
class OneJobLauncher final : public Launcher {
 public:
  explicit OneJobLauncher(Launcher& inner) : inner_(inner) {}
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return inner_.settings();
  }
  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    if (!is_measure_job(request.folder)) return inner_.launch(request);
    asked = load_measure_job(request.folder, 0).job.options;
    throw InputError("", "", "the queue is closed", "come back tomorrow");
  }
  std::unique_ptr<LaunchedJob> attach(const std::string& id,
                                      const std::filesystem::path& folder) override {
    return inner_.attach(id, folder);
  }
  MeasureJobOptions asked;

 private:
  Launcher& inner_;
};

// Links that cannot be measured cost nothing of what the machines told.
TEST_F(Discover, KeepsWhatItKnowsWhenNothingCanBeMeasured) {
  ::setenv("LD_LIBRARY_PATH", STRATO_FAKE_NVML_FOLDER, 1);
  ::setenv("STRATO_FAKE_NVML", "v100", 1);
  DiscoverOptions measured = options("local");
  measured.measure = true;
  const auto local = plugins.launcher("local");
  OneJobLauncher launcher(*local);
  const Discovered found =
      discover(launcher, measured, GpuCatalogue::bundled(), {}, [](const std::string&) {});
  EXPECT_EQ(launcher.asked.engine, "replay-cuda");
  EXPECT_EQ(launcher.asked.transport, "nccl");
  EXPECT_EQ(launcher.asked.device, "cuda");
  EXPECT_EQ(found.state, JobState::Finished) << found.problem;
  EXPECT_TRUE(found.unmeasured);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_NE(found.remarks[0].find("the queue is closed"), std::string::npos) << found.remarks[0];
  EXPECT_EQ(read(found).device_count(), 8u);
}

TEST_F(Discover, AWorkerThatFailsIsNamed) {
  DiscoverOptions wrong = options("local");
  wrong.worker = "/bin/false";
  const Discovered found = run(wrong);
  EXPECT_EQ(found.state, JobState::Failed);
  EXPECT_NE(found.problem.find("rank 0"), std::string::npos) << found.problem;
}

TEST_F(Discover, MachinesAreCountedByTheSettings) {
  EXPECT_EQ(machines_named({}), 1);
  EXPECT_EQ(machines_named({{"nodes", "3"}, {"partition", "gpu"}}), 3);
  write_file(folder / "hosts", "a slots=2\nb # c\n\n# d\na\nlocalhost\n127.0.0.1\n");
  EXPECT_EQ(machines_named({{"hostfile", (folder / "hosts").string()}}), 3);
  write_file(folder / "none", "#\n");
  for (const char* wrong : {"0", "-1", "two", "2x", ""})
    EXPECT_NE(message_of([&] {
                machines_named({{"nodes", wrong}});
              }).find("positive number"),
              std::string::npos);
  EXPECT_NE(message_of([&] {
              machines_named({{"hostfile", (folder / "none").string()}});
            }).find("names no host"),
            std::string::npos);
}

TEST_F(Discover, AFolderIsReadWithCare) {
  EXPECT_FALSE(is_discovery(folder.path()));
  stage_discovery(folder.path(), {2, std::chrono::seconds(5)});
  EXPECT_TRUE(is_discovery(folder.path()));
  EXPECT_EQ(load_discovery(folder.path()).ranks, 2);
  EXPECT_NE(message_of([&] { read_reports(folder.path()); }).find("is not there"),
            std::string::npos);
  write_file(folder / "machine-0.json", "{");
  EXPECT_THROW(read_reports(folder.path()), InputError);
  stage_discovery(folder.path(), {1, std::chrono::seconds(5)});
  EXPECT_FALSE(find_report(folder.path(), 0));
  EXPECT_THROW(stage_discovery(folder.path(), {0, std::chrono::seconds(5)}), InputError);
}

TEST_F(Discover, TwoNodesOfSlurm) {
  ClusterService slurm("slurm/cluster", 3);
  if (slurm.service.said().starts_with("not installed")) GTEST_SKIP() << slurm.service.said();
  ASSERT_TRUE(slurm.service.ready()) << slurm.service.said();
  ::setenv("SLURM_CONF", (slurm.folder / "slurm.conf").c_str(), 1);
  DiscoverOptions two = options("slurm");
  two.settings = {{"nodes", "2"}};
  const Discovered found = run(two);
  ::unsetenv("SLURM_CONF");
  ASSERT_EQ(found.state, JobState::Finished) << found.problem;
  const Cluster cluster = read(found);
  ASSERT_EQ(cluster.machines().size(), 2u);
  EXPECT_EQ(cluster.machines()[MachineId(0)].name, "one");
  EXPECT_EQ(cluster.machines()[MachineId(1)].name, "two");
}

TEST_F(Discover, TwoHostsOverSsh) {
  ClusterService hosts("mpi/hosts", 1);
  if (!hosts.service.ready()) GTEST_SKIP() << hosts.service.said();
  DiscoverOptions two = options("mpi");
  two.settings = {{"hostfile", (hosts.folder / "hosts.txt").string()},
                  {"plm_rsh_agent", "ssh -F " + (hosts.folder / "ssh_config").string()}};
  const Discovered found = run(two);
  ASSERT_EQ(found.state, JobState::Finished) << found.problem;
  EXPECT_EQ(read(found).machines().size(), 2u);
  const auto twice = [](const std::string& remark) {
    return remark.starts_with("two ranks ran on");
  };
  EXPECT_TRUE(
      std::any_of(found.remarks.begin(), found.remarks.end(), twice));  // both are this machine
}

}  // namespace
}  // namespace strato
