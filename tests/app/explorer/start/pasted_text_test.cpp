// Texts that are pasted as models: what they are, why they are none, and where they are kept.
#include "app/explorer/pasted_text.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "core/io/file.h"
#include "tests/app/explorer/start/scripts.h"
#include "tests/message_of.h"

namespace strato {
namespace {

std::string paste_refusal(const std::string& text) {
  return message_of([&] { read_pasted(text); });
}
void expect_within(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PastedText, IsToldByItsContent) {
  const PastedText script = read_pasted(kMegatron);
  ASSERT_TRUE(script.job);
  EXPECT_EQ(script.job->framework, "Megatron-LM");
  EXPECT_EQ(script.job->machines, 2);
  EXPECT_EQ(script.job->gpus, 4);
  EXPECT_EQ(script.name, script.job->model->name);
  const PastedText config = read_pasted("\n  " + kConfig);
  EXPECT_FALSE(config.job);
  EXPECT_EQ(config.name, "Small-Llama");
  const PastedText titan = read_pasted(
      "./run_train.sh --model.name llama3 --model.flavor 8B "
      "--training.local_batch_size 2");
  EXPECT_EQ(titan.job->framework, "torchtitan");
}

TEST(PastedText, SaysWhyItIsNoModel) {
  for (const char* prose : {"", "   \n", "Hello, I don't know.", "<html><body>x</body></html>",
                            "[1, 2]", "train.py --epochs 3 --lr 1", "\xff\xfe\x01"})
    expect_within(paste_refusal(prose), "The text describes no model; paste a model's config.json");
  expect_within(paste_refusal(kDeepSpeed), "DeepSpeed: the text leaves the model to the program");
  expect_within(
      paste_refusal("pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1"),
      "Megatron-LM: the text leaves the model to the program");
  expect_within(paste_refusal(R"({"format": "stratoscope-plan", "version": 1})"), "open the file");
  expect_within(paste_refusal(R"({"model_type": "llama",)"), "line 1");
  std::string cut = kMegatron;
  cut.replace(cut.find("--num-attention-heads 8"), 23, "--num-attention-heads x");
  expect_within(paste_refusal(cut), "--num-attention-heads: is \"x\"");
  expect_within(paste_refusal(std::string(10'000'000, 'x')),
                "The text has 10.0 MB; at most 1 MB can be pasted");
  paste_refusal(std::string(kMostPasted, '{'));  // deep, and within the limit
}

TEST(PastedText, IsKeptOnceAndReplacesNothing) {
  const QTemporaryDir folder;
  const auto below = std::filesystem::path(folder.path().toStdString()) / "not yet there";
  const PastedText script = read_pasted(kMegatron);
  const auto first = keep_pasted(script, below);
  EXPECT_EQ(first.filename(), script.name + ".sh");
  EXPECT_EQ(read_file(first), kMegatron);
  EXPECT_EQ(keep_pasted(script, below), first);
  const PastedText other = read_pasted(kMegatron + "# another day\n");
  const auto second = keep_pasted(other, below);
  EXPECT_NE(second, first);
  EXPECT_EQ(keep_pasted(other, below), second);
  EXPECT_EQ(read_file(first), kMegatron);
  EXPECT_EQ(keep_pasted(read_pasted(kConfig), below).filename(), "Small-Llama.json");
}

TEST(PastedText, NameOfAModelLeadsOutOfNoFolder) {
  const QTemporaryDir folder;
  const std::filesystem::path path = folder.path().toStdString();
  for (const char* name : {"../../up", "/", "..", "a/../..", "x\\u0000y"}) {
    const std::string text =
        R"({"model_type": "llama", "_name_or_path": ")" + std::string(name) + "\"}";
    EXPECT_EQ(keep_pasted(read_pasted(text), path).parent_path(), path) << name;
  }
}

}  // namespace
}  // namespace strato
