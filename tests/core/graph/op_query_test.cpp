#include "core/graph/query/op_query.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/random.h"

namespace strato {
namespace {

QueriedOp conv() {
  QueriedOp facts;
  facts.name = "layer1/conv1/Conv";
  facts.type = "Conv";
  facts.phase = "forward";
  facts.family = "convolution";
  facts.group = "layer1";
  facts.mode = "AllReduce";
  facts.devices = {"v100:0", "v100:1", "v100"};
  facts.bytes = 5e6;
  facts.parameters = 2048;
  facts.time = 1.5e-3;
  facts.flops = 3e9;
  return facts;
}

bool matches(std::string_view query) { return OpQuery::parse(query).matches(conv()); }

TEST(OpQuery, ComparesTextsAndQuantities) {
  for (const char* text : {"type == \"Conv\" and bytes > 4MB",
                           "name ~ \"layer1\"",
                           "time > 1ms",
                           "device == v100:0",
                           "device = V100",
                           "bytes == 5 MB",
                           "bytes <= 5e6",
                           "parameters == 2KiB",
                           "time < 1501us",
                           "time >= 1.5 ms",
                           "flops > 2.9 GFLOP",
                           "flops < 4g",
                           "name ~ 'lay*conv1*conv'",
                           "not type == Relu",
                           "!(type == Relu)",
                           "type != Relu && phase = forward",
                           "conv",
                           "LAYER1",
                           "type == Relu or type == Conv",
                           "device !~ 1080ti",
                           "name !~ layer2",
                           "'layer1/conv1'",
                           "TYPE == conv AND Time > 1MS",
                           "type == Relu and type == Gemm or group == layer1"})
    EXPECT_TRUE(matches(text)) << text;
  for (const char* text :
       {"bytes > 5MB", "device == v100:3", "device != v100:1", "relu", "name ~ 'conv1*layer'",
        "type == Relu and (type == Gemm or group == layer1)", "not conv", "type == Con",
        "mode == PS", "family ~ matmul", "parameters > 2KiB", "time < 1500000ns"})
    EXPECT_FALSE(matches(text)) << text;
}

TEST(OpQuery, OfNothingPicksNothing) {
  EXPECT_TRUE(OpQuery::parse("").is_empty());
  EXPECT_TRUE(OpQuery::parse(" \t ").is_empty());
  EXPECT_FALSE(matches(""));
  EXPECT_TRUE(matches("name ~ ''"));  // every name holds the empty text
}

TEST(OpQuery, KnowsWhatItAsksFor) {
  const OpQuery query = OpQuery::parse("conv and not (time > 1ms or device == a)");
  EXPECT_TRUE(query.asks_for("time"));
  EXPECT_TRUE(query.asks_for("device"));
  EXPECT_FALSE(query.asks_for("bytes"));
}

struct Wrong {
  const char* text;
  std::size_t at;
  const char* problem;
  const char* remedy;
};

TEST(OpQuery, ErrorsNameThePlaceAndWhatWasExpected) {
  const Wrong cases[] = {
      {"type ==", 7, "ends here", "a value is expected"},
      {"type == and", 8, "'and'", "a value is expected"},
      {"bytes > many", 8, "not a number", "4MB"},
      {"bytes > 4 MG", 10, "no unit of bytes", "MiB"},
      {"bytes > 4ms", 8, "no unit of bytes", "kB"},
      {"time > 4", 7, "needs a unit", "ms"},
      {"size > 4MB", 0, "no field", "bytes"},
      {"\"type\" == x", 0, "no field", "name"},
      {"name > 4", 5, "cannot be compared", "~"},
      {"bytes ~ 4MB", 6, "cannot be compared", "<="},
      {"(a and b", 0, "without its ')'", "close"},
      {"a)", 1, "without its '('", "remove"},
      {"a and", 5, "ends here", "condition"},
      {"a b", 2, "'b'", "\"and\" or \"or\""},
      {"name ~ \"abc", 7, "without its end", "close"},
      {"a & b", 2, "single", "&&"},
      {"== a", 0, "'=='", "condition"},
      {"not", 3, "ends here", "condition"},
      {"type == == a", 8, "'=='", "value"},
  };
  for (const Wrong& wrong : cases) {
    try {
      OpQuery::parse(wrong.text);
      ADD_FAILURE() << wrong.text;
    } catch (const QueryError& error) {
      EXPECT_EQ(error.at(), wrong.at) << wrong.text;
      EXPECT_NE(error.problem().find(wrong.problem), std::string::npos)
          << wrong.text << ": " << error.what();
      EXPECT_NE(error.remedy().find(wrong.remedy), std::string::npos)
          << wrong.text << ": " << error.what();
    }
  }
}

TEST(OpQuery, DeepAndLongOnesAreRefused) {
  EXPECT_THROW(OpQuery::parse(std::string(5000, '(')), QueryError);
  std::string nots;
  for (int i = 0; i < 2000; ++i) nots += "not ";
  EXPECT_THROW(OpQuery::parse(nots + "a"), QueryError);
  EXPECT_THROW(OpQuery::parse(std::string(10'001, 'a')), QueryError);
  std::string chain = "a";
  for (int i = 0; i < 1500; ++i) chain += " or b";
  EXPECT_NO_THROW(OpQuery::parse(chain));
}

std::string random_query(Random& random, int depth) {
  const char* leaves[] = {"type == Conv", "bytes > 4 MB",  "name ~ 'a \"b\" \\\\'", "time <= 2us",
                          "conv",         "device != a:0", "flops >= 1e9",          "\"x y\""};
  if (depth == 0 || random.below(3) == 0) return leaves[random.below(std::size(leaves))];
  const std::string a = random_query(random, depth - 1), b = random_query(random, depth - 1);
  switch (random.below(4)) {
    case 0:
      return a + " and " + b;
    case 1:
      return a + " || " + b;
    case 2:
      return "not (" + a + ")";
    default:
      return "(" + a + ")";
  }
}

// A query picks as its parts do: what it is put together from decides, whatever stands around it.
RC_GTEST_PROP(OpQuery, PicksAsItsPartsDo, (std::uint64_t seed)) {
  Random random(seed);
  const std::string a = random_query(random, 5), b = random_query(random, 5);
  QueriedOp facts = conv();
  facts.bytes = random.uniform(0, 1e7);
  facts.time = random.uniform(0, 1e-5);
  const auto picks = [&](const std::string& text) { return OpQuery::parse(text).matches(facts); };
  RC_ASSERT(picks("(" + a + ") and (" + b + ")") == (picks(a) && picks(b)));
  RC_ASSERT(picks("(" + a + ") or (" + b + ")") == (picks(a) || picks(b)));
  RC_ASSERT(picks("not (" + a + ")") != picks(a));
}

RC_GTEST_PROP(OpQuery, AnyBytesAreReadOrRefusedAtAPlace, (const std::string& text)) {
  try {
    OpQuery::parse(text);
  } catch (const QueryError& error) {
    RC_ASSERT(error.at() <= text.size());
    RC_ASSERT(error.length() >= 1u);
  }
}

RC_GTEST_PROP(OpQuery, SoAreShuffledWordsOfTheLanguage, (std::uint64_t seed)) {
  const char* words[] = {"type", "bytes", "==", "~", "and", "or", "not", "(",    ")",  "\"a\"",
                         "4",    "MB",    ">",  "!", "&&",  "x",  "'",   "time", "1ms"};
  Random random(seed);
  std::string text;
  for (std::size_t i = random.below(12); i > 0; --i)
    text += std::string(words[random.below(std::size(words))]) + (random.below(3) == 0 ? "" : " ");
  try {
    const OpQuery query = OpQuery::parse(text);
    if (query.is_empty()) return;
    const OpQuery same = OpQuery::parse("((" + text + "))");
    RC_ASSERT(same.matches(conv()) == query.matches(conv()));
  } catch (const QueryError& error) {
    RC_ASSERT(error.at() <= text.size());
  }
}

}  // namespace
}  // namespace strato
