// A model that is given as a config.json.
#include <gtest/gtest.h>

#include <QDir>

#include "core/io/file.h"
#include "tests/views/models/fixture.h"

namespace strato {
namespace {

using ConfigurationTest = SessionTest;

// Every one of them is called config.json.
TEST_F(ConfigurationTest, IsNamedAsItsFolder) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_TRUE(QDir(folder_.path()).mkdir("small-llama"));
  const std::filesystem::path file = folder_.filePath("small-llama/config.json").toStdString();
  write_file(file, R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32,
                       "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
                       "max_position_embeddings": 16})");
  ImportOptions import;
  import.batch = 8;
  session_.open_model(file, import, {});
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(session_.model_name(), "small-llama");
  EXPECT_EQ(session_.snapshot().problem->graph->batch(), 8);
}

}  // namespace
}  // namespace strato
