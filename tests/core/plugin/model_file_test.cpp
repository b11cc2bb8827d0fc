#include "core/plugin/use/model_file.h"

#include <gtest/gtest.h>

#include "core/io/json.h"

namespace strato {
namespace {

bool describes(const char* text) { return describes_model(JsonView::parse(text, "x.json")); }

TEST(ModelFile, IsAConfigurationAndNoFileOfOurs) {
  EXPECT_TRUE(describes(R"({"model_type": "llama"})"));
  EXPECT_TRUE(describes(R"({"architectures": ["GPT2LMHeadModel"], "n_layer": 2})"));
  EXPECT_FALSE(describes(R"({"format": "stratoscope-cluster", "version": 1, "model_type": 3})"));
  EXPECT_FALSE(describes(R"({"machines": []})"));
  EXPECT_FALSE(describes(R"({"model_type": null})"));
  EXPECT_FALSE(describes(R"(["model_type"])"));
}

}  // namespace
}  // namespace strato
