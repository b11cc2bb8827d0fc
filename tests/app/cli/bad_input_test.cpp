// Every bad input: exit status 2, one line that names the file, no output file, nothing
// half-written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/base/random.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

class BadInput : public ::testing::Test {
 protected:
  void refuse_plan(const std::string& graph, const std::string& cluster,
                   const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"plan",         "--graph", graph,
                                          "--cluster",    cluster,   "--planner",
                                          "dp-allreduce", "-o",      folder_ / "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused(arguments, parts);
    EXPECT_FALSE(fs::exists(folder_ / "plan.json"));
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
      EXPECT_EQ(entry.path().string().find(".probe-"), std::string::npos) << entry.path();
    }
  }
  void refuse_model(const std::string& name, const std::string& content,
                    const std::vector<std::string>& parts) {
    write_file(folder_ / name, content);
    std::vector<std::string> all = parts;
    all.push_back(name);
    refuse_plan(folder_ / name, cluster_, {"--batch", "8"}, all);
  }
  // The sample cluster with one change.
  template <class Change>
  void refuse_cluster(Change change, const std::vector<std::string>& parts) {
    Json json = Json::parse(read_file(cluster_));
    change(json);
    write_file(folder_ / "bad.json", json.dump());
    std::vector<std::string> all = parts;
    all.push_back("bad.json");
    refuse_plan(lenet_, folder_ / "bad.json", {"--batch", "8"}, all);
  }

  TemporaryFolder folder_;
  std::string lenet_ = sample_model("lenet"), cluster_ = sample_cluster("tag-2x1080ti");
};

TEST_F(BadInput, Models) {
  const std::string good = read_file(lenet_);
  refuse_model("empty.onnx", "", {});
  refuse_model("text.onnx", "this is not a model", {});
  refuse_model("half.onnx", good.substr(0, good.size() / 2), {});
  refuse_model("short.onnx", good.substr(0, good.size() - 1), {});
  Random random(1);
  std::string noise(4096, '\0');
  for (char& c : noise) c = static_cast<char>(random.next());
  refuse_model("noise.onnx", noise, {});
  refuse_model("model.pb", good, {".pb", ".onnx"});
  refuse_plan(folder_ / "none.onnx", cluster_, {"--batch", "8"}, {"none.onnx: is not there"});
  refuse_plan(folder_.path(), cluster_, {"--batch", "8"}, {});
}

// A text is told by its content; one of a cluster with a mistake keeps the reader's place.
TEST_F(BadInput, TextsOfOtherKinds) {
  for (const char* name : {"notes.txt", "notes.conf", "notes"}) {
    write_file(folder_ / name, "it is raining\n");
    expect_refused({"inspect", folder_ / name},
                   {std::string(name) + ": is not a model, cluster, plan, profile or workspace"});
  }
  write_file(folder_ / "matrix.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tABC\t X \ngpu: V100\n");
  expect_refused({"inspect", folder_ / "matrix.txt"},
                 {"matrix.txt: GPU1 to GPU0: \"ABC\" is no kind of link"});
}

TEST_F(BadInput, NamesOfSamples) {
  refuse_plan("vgg", cluster_, {}, {"vgg: is not there, and no sample", "vgg16 or vgg19?"});
  refuse_plan("vggg19", cluster_, {}, {"did you mean vgg19?"});
  refuse_plan("something", cluster_, {}, {"stratoscope-cli list models"});
  refuse_plan(lenet_, "tag-tesbed", {"--batch", "8"}, {"no sample", "did you mean tag-testbed?"});
  refuse_plan(lenet_, "", {"--batch", "8"}, {"is not there"});
  expect_refused({"inspect", "lenett"}, {"did you mean lenet?"});
  const CliResult models = run_cli({"list", "models"}), clusters = run_cli({"list", "clusters"});
  EXPECT_NE(models.out.find("\nlenet\n"), std::string::npos) << models.out;
  EXPECT_EQ(models.out.find(".onnx"), std::string::npos) << models.out;
  EXPECT_NE(clusters.out.find("4 V100-SXM2-32GB, 8 GTX-1080-Ti, 4 P100"), std::string::npos)
      << clusters.out;
  const Json listed = json_of(run_cli({"list", "models", "--json"}));
  EXPECT_GT(listed["models"].size(), 1u);
  for (const Json& name : listed["models"]) EXPECT_FALSE(name.get<std::string>().empty());
}

TEST_F(BadInput, AnyPrefixOfAModelIsRefusedOrRead) {
  const std::string good = read_file(lenet_);
  for (std::size_t size = 1; size < good.size(); size += good.size() / 12) {
    write_file(folder_ / "part.onnx", good.substr(0, size));
    const CliResult result = run_cli({"inspect", folder_ / "part.onnx", "--batch", "2"});
    EXPECT_TRUE(result.status == 0 || result.status == 2) << size << ": " << result.err;
  }
}

TEST_F(BadInput, AWorkspaceIsNoModelAndNoTrace) {
  const std::string workspace = (folder_ / "work.strata").string();
  json_of(run_cli({"plan", "--graph", lenet_, "--batch", "8", "--cluster", cluster_, "--planner",
                   "dp-allreduce", "--workspace", workspace, "--json"}));
  expect_refused({"inspect", workspace}, {"is a workspace", "runs --workspace"});
  std::filesystem::copy_file(workspace, folder_ / "copy.sqlite");
  expect_refused({"inspect", folder_ / "copy.sqlite"}, {"copy.sqlite"});
}

TEST_F(BadInput, Batch) {
  refuse_plan(lenet_, cluster_, {}, {"lenet.onnx", "--batch"});
  for (const char* batch : {"0", "-1", "x", "1.5", "99999999999999999999", "4611686018427387904"}) {
    refuse_plan(lenet_, cluster_, {"--batch", batch}, {"--batch"});
  }
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--set-dim", "n"}, {"--set-dim"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--set-dim", "n=0"}, {"--set-dim n"});
}

TEST_F(BadInput, Clusters) {
  refuse_cluster([](Json& json) { json["machines"] = Json::array(); }, {"machines"});
  refuse_cluster([](Json& json) { json["machines"][0]["gpus"][0]["count"] = 0; }, {"gpus[0]"});
  refuse_cluster([](Json& json) { json["machines"][0]["gpus"][0]["type"] = "V1000"; }, {"V1000"});
  refuse_cluster([](Json& json) { json["machines"][0]["fabric"]["bandwidth_GBps"] = 0; },
                 {"machines[0].fabric.bandwidth_GBps"});
  refuse_cluster([](Json& json) { json["machines"][0]["fabric"]["bandwidth_GBps"] = -5; },
                 {"bandwidth_GBps"});
  refuse_cluster([](Json& json) { json["format"] = "x"; }, {"format"});
  refuse_cluster([](Json& json) { json["version"] = 99; }, {"version"});
  refuse_cluster([](Json& json) { json["colour"] = 1; }, {"colour"});
  write_file(folder_ / "nan.json", R"({"format": "stratoscope-cluster", "bandwidth": NaN})");
  refuse_plan(lenet_, folder_ / "nan.json", {"--batch", "8"},
              {"nan.json: line 1", "not valid JSON"});
  refuse_plan(lenet_, folder_ / "none.json", {"--batch", "8"}, {"none.json"});
  refuse_plan(lenet_, "no-such-cluster", {"--batch", "8"}, {"no-such-cluster"});
}

TEST_F(BadInput, Options) {
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--optimizer", "lion"}, {"lion"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--groups", "0"}, {"--groups"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--iterations", "0"}, {"--iterations"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--budget", "soon"}, {"--budget", "soon"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--budget", "-1s"}, {"--budget"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--budget", ""}, {"--budget"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--seed", "-1"}, {"--seed", "-1"});
  refuse_plan(lenet_, cluster_, {"--batch", "2147483648"}, {"--batch", "2147483647"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--set", "nonsense"}, {"--set"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--set", "colour=red"}, {"colour"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--frobnicate"}, {"--frobnicate"});
  expect_refused(
      {"plan", "--graph", lenet_, "--batch", "8", "--cluster", cluster_, "--planner", "mtcs"},
      {"no planner \"mtcs\"", "mcts"});
  expect_refused({"export", "--plan", "x.json", "--format", "png", "-o", "y"},
                 {"no exporter \"png\"", "dot"});
  expect_refused({"list", "colours"}, {"colours"});
  expect_refused({"list"}, {"models", "clusters", "planners"});
  expect_refused({}, {});
  expect_refused({"paln"}, {"paln", "plan"});
  expect_refused({"plan", "--grpah", "x"}, {"--grpah", "did you mean --graph?"});
}

TEST_F(BadInput, PlacesThatCannotBeWritten) {
  expect_refused({"plan", "--graph", lenet_, "--batch", "8", "--cluster", cluster_, "--planner",
                  "dp-allreduce", "-o", folder_ / "no/such/plan.json"},
                 {"no/such/plan.json"});
  expect_refused({"plan", "--graph", lenet_, "--batch", "8", "--cluster", cluster_, "--planner",
                  "dp-allreduce", "-o", "/proc/plan.json"},
                 {"/proc/plan.json"});
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--workspace", "/proc/a.strata"},
              {"/proc/a.strata"});
}

TEST_F(BadInput, AnInputIsNeverOverwritten) {
  const std::string model = folder_ / "m.onnx", cluster = folder_ / "c.json";
  const std::string plan = folder_ / "p.json";
  write_file(model, read_file(lenet_));
  write_file(cluster, read_file(cluster_));
  const std::vector<std::string> planning = {
      "plan", "--graph", model, "--batch", "8", "--cluster", cluster, "--planner", "dp-allreduce"};
  const auto with = [&](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  fs::create_hard_link(model, folder_ / "link.onnx");
  for (const std::string& target : {model, cluster, std::string(folder_ / "link.onnx"),
                                    std::string(folder_ / "." / "m.onnx")}) {
    expect_refused(with(planning, {"-o", target}), {"another file of this command", target});
  }
  expect_refused(with(planning, {"-o", plan, "--workspace", plan}), {"another file", plan});
  EXPECT_FALSE(fs::exists(plan));
  EXPECT_EQ(read_file(model), read_file(lenet_));
  EXPECT_EQ(read_file(cluster), read_file(cluster_));
  ASSERT_EQ(run_cli(with(planning, {"-o", plan})).status, 0);
  const std::string before = read_file(plan);
  expect_refused({"simulate", "--plan", plan, "--dump-tasks", plan}, {"another file", plan});
  expect_refused({"simulate", "--plan", plan, "--trace", plan}, {"another file", plan});
  expect_refused(
      {"simulate", "--plan", plan, "--trace", folder_ / "x", "--dump-tasks", folder_ / "x"},
      {"another file", "x"});
  expect_refused({"export", "--plan", plan, "--format", "dot", "-o", plan}, {"another file", plan});
  EXPECT_EQ(read_file(plan), before);
}

TEST_F(BadInput, Workspaces) {
  write_file(folder_ / "text.strata", "hello");
  refuse_plan(lenet_, cluster_, {"--batch", "8", "--workspace", folder_ / "text.strata"},
              {"text.strata", "not an SQLite file"});
  EXPECT_EQ(read_file(folder_ / "text.strata"), "hello");
  expect_refused({"runs", "--workspace", folder_ / "none.strata"}, {"none.strata: is not there"});
  EXPECT_FALSE(fs::exists(folder_ / "none.strata"));
  { Workspace workspace(folder_ / "a.strata"); }
  expect_refused({"runs", "show", "7", "--workspace", folder_ / "a.strata"}, {"has no run 7"});
  expect_refused({"runs", "delete", "7", "--workspace", folder_ / "a.strata"}, {"has no run 7"});
  // user_version, a big-endian number at byte 60 of the file
  std::string bytes = read_file(folder_ / "a.strata");
  bytes[63] = 7;
  write_file(folder_ / "a.strata", bytes);
  expect_refused({"runs", "--workspace", folder_ / "a.strata"}, {"newer Stratoscope", "schema 7"});
}

TEST_F(BadInput, Plans) {
  const std::string plan = folder_ / "good.json";
  ASSERT_EQ(run_cli({"plan", "--graph", lenet_, "--batch", "8", "--cluster", cluster_, "--planner",
                     "dp-allreduce", "-o", plan})
                .status,
            0);
  expect_refused({"simulate", "--plan", plan, "--graph", sample_model("vgg19")},
                 {"good.json", "another model"});
  expect_refused({"simulate", "--plan", folder_ / "none.json"}, {"none.json"});
  expect_refused({"simulate", "--plan", cluster_}, {"format"});
  expect_refused({"simulate", "--plan", plan, "--trace", folder_ / "no/trace.json"},
                 {"no/trace.json"});
  Json json = Json::parse(read_file(plan));
  json["result"]["planner"] = 7;
  write_file(folder_ / "bad.json", json.dump());
  expect_refused({"simulate", "--plan", folder_ / "bad.json"}, {"bad.json: result: planner"});
  json["graph"]["file"] = "gone.onnx";
  write_file(folder_ / "bad.json", json.dump());
  expect_refused({"simulate", "--plan", folder_ / "bad.json"}, {"bad.json", "gone.onnx"});
  json["groups"][0]["mode"] = "telepathy";
  write_file(folder_ / "bad.json", json.dump());
  expect_refused(
      {"export", "--plan", folder_ / "bad.json", "--format", "dot", "-o", folder_ / "p.dot"},
      {"bad.json", "groups[0].mode", "telepathy"});
  EXPECT_FALSE(fs::exists(folder_ / "p.dot"));
  const std::string text = read_file(plan);
  write_file(folder_ / "bad.json", text.substr(0, text.size() / 2));
  expect_refused({"simulate", "--plan", folder_ / "bad.json"}, {"bad.json: line"});
}

TEST_F(BadInput, FullStandardOutput) {
  const std::string command =
      std::string(STRATO_CLI) + " inspect " + lenet_ + " >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

}  // namespace
}  // namespace strato
