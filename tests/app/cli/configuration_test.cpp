// A model that is given as a config.json: inspected, planned, simulated from its plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

constexpr const char* kSmallLlama =
    R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 16})";

TEST(Configuration, IsAModelNamedAsItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "small-llama");
  const std::string file = folder / "small-llama" / "config.json";
  write_file(file, kSmallLlama);
  const Json inspected = json_of(run_cli({"inspect", file, "--batch", "8", "--json"}));
  const std::int64_t layer = 4 * 32 * 32 + 3 * 32 * 48 + 2 * 32;
  EXPECT_EQ(inspected["parameters"], 2 * 64 * 32 + 2 * layer + 32);

  const std::string plan = folder / "plan.json";
  json_of(
      run_cli({"plan", "--graph", file, "--batch", "8", "--set-dim", "sequence=12", "--cluster",
               sample_cluster("tag-2x1080ti"), "--planner", "dp-allreduce", "-o", plan, "--json"}));
  EXPECT_NE(read_file(plan).find("\"small-llama\""), std::string::npos);
  EXPECT_TRUE(json_of(run_cli({"simulate", "--plan", plan, "--json"})).contains("step_time_s"));
}

// What is trained, and in which precision, is the plan's and the workspace's, too.
TEST(Configuration, IsTrainedAsItIsAsked) {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json", plan = folder / "plan.json";
  const std::string workspace = folder / "kept.strata";
  write_file(file, kSmallLlama);
  const std::vector<std::string> how = {"--batch",     "8",        "--set-dim",
                                        "sequence=12", "--freeze", "model.layers.0*",
                                        "--precision", "bf16"};
  std::vector<std::string> command = {"inspect", file, "--json"};
  command.insert(command.end(), how.begin(), how.end());
  const Json inspected = json_of(run_cli(command));
  EXPECT_EQ(inspected["frozen_parameters"], 4 * 32 * 32 + 3 * 32 * 48 + 2 * 32);

  command = {
      "plan",      "--graph",      file,          "--cluster", sample_cluster("tag-2x1080ti"),
      "--planner", "dp-allreduce", "--workspace", workspace,   "-o",
      plan,        "--json"};
  command.insert(command.end(), how.begin(), how.end());
  const Json planned = json_of(run_cli(command));
  const auto step_of = [](const std::vector<std::string>& simulate) {
    return json_of(run_cli(simulate))["step_time_s"];
  };
  EXPECT_EQ(step_of({"simulate", "--plan", plan, "--json"}), planned["step_time_s"]);
  const Json noted = Json::parse(read_file(plan))["result"];
  EXPECT_EQ(noted["precision"], "bfloat16");
  EXPECT_EQ(noted["frozen"], Json::array({"model.layers.0*"}));
  expect_refused({"inspect", file, "--batch", "8", "--trainable", "*lora*"},
                 {"none is named \"*lora*\"", "they are"});
  expect_refused({"inspect", file, "--batch", "8", "--precision", "int4"},
                 {"precision", "float32, float16 or bfloat16"});
}

TEST(Configuration, IsASampleToo) {
  const Json listed = json_of(run_cli({"list", "models", "--json"}));
  for (const char* name : {"gpt2_medium", "llama3_8b", "mixtral_8x7b"})
    EXPECT_EQ(std::count(listed["models"].begin(), listed["models"].end(), name), 1) << name;
  const Json inspected = json_of(run_cli({"inspect", "llama3_8b", "--batch", "2", "--json"}));
  EXPECT_EQ(inspected["parameters"], 8'030'261'248);
}

// A command line of Megatron-LM is a model, and says how it is laid out, on machines by a name.
TEST(Configuration, OfMegatronIsModelAndPlan) {
  const TemporaryFolder folder;
  const std::string script = folder / "run.sh";
  write_file(script,
             "pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
             "--seq-length 16 --vocab-size 128 --tensor-model-parallel-size 2 "
             "--pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 16");
  EXPECT_EQ(json_of(run_cli({"inspect", script, "--json"}))["batch"], 16);
  EXPECT_EQ(json_of(run_cli({"inspect", "h100-2x4", "--json"}))["devices"], 8);
  const Json planned = json_of(
      run_cli({"plan", "--graph", script, "--cluster", "h100-2x4", "--planner", "configuration",
               "--set", "file=" + script, "-o", folder / "plan.json", "--json"}));
  EXPECT_TRUE(planned["feasible"].get<bool>());
  expect_refused({"plan", "--graph", script, "--cluster", "h101-2x4"},
                 {"h101-2x4: is no file and no sample", "\"h101\" is no GPU that is known"});
}

TEST(Configuration, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  write_file(file, R"({"model_type": "llama", "hidden_size": 33, "num_attention_heads": 4})");
  expect_refused({"inspect", file, "--batch", "8"}, {"config.json: hidden_size: 33"});
  write_file(file, kSmallLlama);
  expect_refused({"plan", "--graph", file, "--cluster", "gdp"},
                 {"config.json: input_ids: ", "--set-dim batch=N"});
  expect_refused({"plan", "--graph", sample_cluster("gdp"), "--batch", "8", "--cluster", "gdp"},
                 {"gdp.json: is no model configuration"});
}

}  // namespace
}  // namespace strato
