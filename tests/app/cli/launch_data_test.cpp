// launch on real data: a network with PyTorch's own initial weights, trained on two ranks, becomes
// what plain PyTorch makes of it.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/paths.h"
#include "tests/python.h"

#if defined(STRATO_GLOO) && defined(STRATO_TORCH)

namespace strato {
namespace {

class LaunchData : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(python().empty())
        << "no python3 here has torch and numpy: app/setup installs them";
    said("make", {folder.path()});
    const CliResult planned =
        run_cli({"plan", "--graph", folder / "network.onnx", "--batch", "8", "--cluster",
                 sample_cluster("tag-2x1080ti").string(), "--planner", "dp-allreduce",
                 "--optimizer", "momentum", "-o", folder / "plan.json"});
    ASSERT_EQ(planned.status, 0) << planned.err;
  }
  // Of real_data.py, which has to succeed.
  std::string said(const std::string& what, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        python(), std::string(kSourceFolder) + "/tests/app/cli/real_data.py", what};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run_program(words, folder / "said"), 0) << read_file(folder / "said");
    return read_file(folder / "said");
  }
  std::vector<std::string> launch(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {
        "launch", "--plan", folder / "plan.json", "--steps", "3", "--learning-rate", "0.05"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TemporaryFolder folder;
};

TEST_F(LaunchData, TrainsAsPlainPytorchDoes) {
  const CliResult own =
      run_cli(launch({"--inputs", folder / "inputs", "--keep-parameters", folder / "out.pt"}));
  ASSERT_EQ(own.status, 0) << own.err;
  EXPECT_NE(own.err.find("10 parameters"), std::string::npos) << own.err;
  said("compare", {folder / "out.pt", folder / "expected.pt"});

  const CliResult other =
      run_cli(launch({"--weights", folder / "start.pt", "--inputs", folder / "inputs.pt",
                      "--keep-parameters", folder / "out.safetensors"}));
  ASSERT_EQ(other.status, 0) << other.err;
  const CliResult kept = run_cli(launch({"--weights", folder / "out.safetensors", "--inputs",
                                         folder / "inputs", "--keep-parameters", folder / "out"}));
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "out/index.json"));
}

TEST_F(LaunchData, IsRefusedBeforeAnythingStarts) {
  const std::string inputs = folder / "inputs", images = folder / "inputs/images.npy",
                    label = folder / "inputs/label.npy";
  expect_refused(launch({"--weights", "nothing"}), {"--weights", "there is no \"nothing\""});
  for (const char* file : {"code.pt", "harmful.pt", "ordered.pt"}) {
    expect_refused(launch({"--weights", folder / file}),
                   {file, "never read", "dict(model.state_dict())"});
    expect_refused(launch({"--inputs", folder / file}), {file, "never read"});
  }
  expect_refused(launch({"--weights", folder / "long.pt"}),
                 {"long.pt", "a text in it is longer than the file"});
  EXPECT_FALSE(std::filesystem::exists(folder / "harmed"));
  expect_refused(launch({"--weights", label}), {"label.npy"});
  expect_refused(launch({"--inputs", folder / "none"}), {"neither a folder nor a .pt file"});
  expect_refused(launch({"--inputs", "images=" + images}),
                 {"no array for \"scores/label\"", "images: float32 [N, 3, 16, 16]"});
  expect_refused(launch({"--inputs", inputs, "--inputs", "picture=" + images}),
                 {"no input \"picture\""});
  expect_refused(launch({"--inputs", "images=" + images, "--inputs",
                         "label=" + (folder / "wrong_label.npy").string()}),
                 {"wrong_label.npy", "has 10 at element 3, and indices go from 0 to 9"});
  expect_refused(launch({"--inputs", "images=" + images, "--inputs",
                         "label=" + (folder / "objects.npy").string()}),
                 {"objects.npy", "pickles are never read"});
  expect_refused(launch({"--weights", "model", "--resume", "checkpoint-1"}), {"--resume brings"});
}

// What config.json describes has no values of its own. Computed in 16 bits, optimizer states on the
// host.
TEST(LaunchConfiguration, IsSeededWithOneSentence) {
  const TemporaryFolder folder;
  write_file(folder / "config.json",
             R"({"model_type": "llama", "torch_dtype": "bfloat16", "vocab_size": 32,
                 "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
                 "num_attention_heads": 4, "num_key_value_heads": 2})");
  Json cluster = Json::parse(read_file(sample_cluster("tag-2x1080ti")));
  cluster["machines"][0]["host_memory_bytes"] = 1'000'000'000;
  write_file(folder / "cluster.json", cluster.dump());
  const CliResult planned =
      run_cli({"plan", "--graph", folder / "config.json", "--batch", "4", "--set-dim", "sequence=8",
               "--cluster", folder / "cluster.json", "--planner", "pipeline", "--set", "stages=1",
               "--set", "offload=states", "-o", folder / "plan.json"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  std::vector<std::string> launch = {"launch", "--plan", folder / "plan.json", "--steps", "2"};
  const CliResult run = run_cli(launch);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("parameters are seeded: a model file of this format has no values\n"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("plugin"), std::string::npos) << run.err;
  launch.insert(launch.end(), {"--weights", "model"});
  expect_refused(launch, {"config.json", "a model file of this format has no values"});
}

}  // namespace
}  // namespace strato

#endif
