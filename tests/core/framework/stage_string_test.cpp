// The text of --pipeline-model-parallel-layout, read and written.
#include "core/framework/layout/stage_string.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/message_of.h"

namespace strato::frameworks {
namespace {

std::vector<Block> parsed(std::string_view text) { return parse_stage_string(text, "run.sh", ""); }
std::string refusal(std::string_view text) {
  return message_of([&] { parsed(text); });
}

std::int32_t layers_in(const std::vector<Block>& blocks) {
  std::int32_t layers = 0;
  for (const Block& block : blocks) layers += block.layers;
  return layers;
}

TEST(StageString, SaysWhatEachStageHas) {
  EXPECT_EQ(parsed("Et|tt|L"),
            (std::vector<Block>{{true, 1, false}, {false, 2, false}, {false, 0, true}}));
  EXPECT_EQ(parsed("E,t*3,L"), (std::vector<Block>{{true, 3, true}}));
  EXPECT_EQ(parsed("E|(t|t)*2|L"), parsed("E|t|tt|t|L"));  // the inner parts run together
}

TEST(StageString, ReadsWhatIsUsedForLlama70B) {
  const std::vector<Block> blocks = parsed("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL");
  EXPECT_EQ(layers_in(blocks), 80);
  EXPECT_EQ(blocks.size(), 40u);
  EXPECT_EQ(blocks.front(), (Block{true, 2, false}));
  EXPECT_EQ(blocks[35], (Block{false, 3, false}));
  EXPECT_EQ(blocks.back(), (Block{false, 1, true}));
  EXPECT_EQ(stage_string(blocks), "Et*2|(t*2|)*34,t*3|(t*2|)*3,tL");
}

TEST(StageString, OfAnyBlocksIsReadAsTheSame) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<Block> blocks(1 + random() % 12);
    for (Block& block : blocks) block.layers = static_cast<std::int32_t>(1 + random() % 3);
    blocks.front().embedding = blocks.back().head = true;
    if (random() % 2 == 0 && blocks.size() > 1) blocks.front().layers = blocks.back().layers = 0;
    const std::string text = stage_string(blocks);
    EXPECT_EQ(parsed(text), blocks) << text;
  }
}

TEST(StageString, RefusesWhatIsNone) {
  for (const char* text : {"", "t|t", "EtL|t", "Et|E|L", "Ett", "LtE", "E(t|)*2", "E|*2L"})
    EXPECT_NE(refusal(text), "no error") << text;
  for (const char* text : {"E(tL", "E(t)L", "E((t|)*2)*2L", "E()*3L", "Et)L", "E*tL", "Et*L"})
    EXPECT_NE(refusal(text), "no error") << text;
  EXPECT_NE(refusal("Et|m|L").find("multi-token prediction (m)"), std::string::npos);
  EXPECT_NE(refusal("Et|x|L").find("none of E, t, L"), std::string::npos);
  EXPECT_NE(refusal("Et||tL").find("nothing in it"), std::string::npos);
}

TEST(StageString, IsNotUnrolledWithoutEnd) {
  EXPECT_NE(refusal("Et*999999999L").find("from 1 to 100000"), std::string::npos);
  EXPECT_NE(refusal("E(t*99999|)*99999L").find("more than 100000"), std::string::npos);
  EXPECT_NE(refusal("Et*99999999999999999999999L"), "no error");
  EXPECT_NE(refusal("Et*0L"), "no error");
}

}  // namespace
}  // namespace strato::frameworks
