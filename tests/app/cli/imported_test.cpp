// What inspect and plan say about models that are unlike the samples. They are written here, field
// by field, since nothing else on the command line needs ONNX's messages.
#include <gtest/gtest.h>

#include <initializer_list>

#include "core/io/file.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

std::string varint(std::size_t number) {
  std::string bytes;
  for (; number >= 128; number /= 128) bytes += static_cast<char>(number % 128 + 128);
  return bytes + static_cast<char>(number);
}

std::string text(int field, const std::string& content) {
  return varint(static_cast<std::size_t>(field) * 8 + 2) + varint(content.size()) + content;
}
std::string number(int field, std::size_t value) {
  return varint(static_cast<std::size_t>(field) * 8) + varint(value);
}

std::string node(const std::string& type, std::initializer_list<const char*> inputs,
                 const std::string& output, const std::string& attributes = {}) {
  std::string content;
  for (const char* input : inputs) content += text(1, input);
  return text(1, content + text(2, output) + text(3, "op_" + output) + text(4, type) + attributes);
}

std::string axis(std::size_t value) {  // an attribute
  return text(5, text(1, "axis") + number(3, value) + number(20, 2));
}

std::string weight(const std::string& name, std::size_t rows, std::size_t columns) {
  return text(5, number(1, rows) + number(1, columns) + number(2, 1) + text(8, name) +
                     text(9, std::string(rows * columns * 4, '\0')));
}

// Of nodes and weights; "x" [batch, 8] is the input, "y" the result.
std::string model(const std::string& content) {
  const std::string shape = text(1, text(2, "batch")) + text(1, number(1, 8));
  const std::string input =
      text(11, text(1, "x") + text(2, text(1, number(1, 1) + text(2, shape))));
  const std::string graph = content + text(2, "graph") + input + text(12, text(1, "y"));
  return number(1, 8) + text(7, graph) + text(8, number(2, 17));
}

class Imported : public testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    const std::string path = folder_ / "model.onnx";
    write_file(path, bytes);
    return path;
  }
  std::vector<std::string> plan(const std::string& bytes, const std::string& last) {
    return {"plan",
            "--graph",
            file(bytes),
            "--batch",
            "4",
            "--cluster",
            sample_cluster("tag-2x1080ti"),
            "--planner",
            "dp-allreduce",
            last};
  }

  TemporaryFolder folder_;
};

TEST_F(Imported, APlanOfViewsAloneIsReadBack) {
  const std::string planned = folder_ / "plan.json";
  std::vector<std::string> arguments = plan(model(node("Flatten", {"x"}, "y")), "-o");
  arguments.push_back(planned);
  const CliResult made = run_cli(arguments);
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("nothing in the model can be trained: its forward pass is planned"),
            std::string::npos);
  const CliResult read = run_cli({"simulate", "--plan", planned});
  EXPECT_EQ(read.status, 0) << read.err;
}

TEST_F(Imported, WhatCannotBeTrainedIsSaid) {
  const std::string bytes = model(node("Relu", {"x"}, "y"));
  const CliResult seen = run_cli({"inspect", file(bytes), "--batch", "4"});
  EXPECT_NE(seen.out.find("nothing in it can be trained"), std::string::npos) << seen.out;
  const Json asked =
      json_of(run_cli({"inspect", file(bytes), "--batch", "4", "--inference", "--json"}));
  EXPECT_FALSE(asked.contains("untrainable"));
}

TEST_F(Imported, TheOpThatStopsTheBatchIsNamed) {
  const std::string bytes =
      model(node("MatMul", {"x", "a"}, "h") + node("Softmax", {"h"}, "s", axis(0)) +
            node("MatMul", {"s", "b"}, "y") + weight("a", 8, 8) + weight("b", 8, 24));
  const std::string told =
      "of the work cannot be divided by samples: they are no longer apart behind op \"op_s\" "
      "(Softmax)";
  const CliResult seen = run_cli({"inspect", file(bytes), "--batch", "4"});
  EXPECT_NE(seen.out.find(told), std::string::npos) << seen.out << seen.err;
  const CliResult said = run_cli(plan(bytes, "--seed=1"));
  EXPECT_NE(said.out.find(told), std::string::npos) << said.out << said.err;
  const Json json = json_of(run_cli(plan(bytes, "--json")));
  EXPECT_NE(json["batch_stop"].get<std::string>().find(told), std::string::npos);
}

}  // namespace
}  // namespace strato
