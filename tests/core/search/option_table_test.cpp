#include "core/search/api/option_table.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace strato {
namespace {

enum class Order { Cpd, Dfs, M };

struct Settings {
  bool paper = false, insert = true;
  double part = 0.25;
  int range = 200;
  std::size_t count = 3;
  Order order = Order::Dfs;
  bool maximum = false;
  Bytes bucket{64 << 20};
  std::filesystem::path weights;
  std::string word;

  void follow_paper() {
    paper = true;
    range = 7;
  }
  OptionTable option_table() {
    return {{"variant", paper, {"default", "paper"}, "whose"},
            {"insert", insert, "into idle time"},
            {"part", part, {.low = 0, .high = 1, .above_low = true}, "of the memory"},
            {"range", range, {1}, "of a cluster"},
            {"count", count, {0, 9}, "of what"},
            {"order", order, {"cpd", "dfs", "m"}, "topological"},
            {"backup", maximum, {"mean", "max"}, "of rewards"},
            {"bucket", bucket, OptionUnit::MB, {0, 1e6}, "in MB"},
            {"weights", weights, "a file"},
            {"word", [this](const std::string& text) { word = text + "!"; },
             [this] { return word; }, "a word", "called out"}};
  }
};

TEST(OptionTable, defaults_are_the_members) {
  const std::vector<OptionHelp> list = list_options<Settings>();
  const std::vector<std::string> defaults = {"default", "true", "0.25", "200", "3",
                                             "dfs",     "mean", "64",   "",    ""};
  const std::vector<std::string> values = {"default, paper",
                                           "true, false",
                                           "above 0, up to 1",
                                           "from 1 to 2147483647",
                                           "from 0 to 9",
                                           "cpd, dfs, m",
                                           "mean, max",
                                           "from 0 to 1000000",
                                           "",
                                           "a word"};
  ASSERT_EQ(list.size(), defaults.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].default_value, defaults[i]) << list[i].name;
    EXPECT_EQ(list[i].values, values[i]) << list[i].name;
  }
  EXPECT_EQ(list[4].help, "of what");
}

TEST(OptionTable, what_is_given_is_read) {
  const auto settings = read_options<Settings>({{"insert", "off"},
                                                {"part", "1"},
                                                {"range", "5"},
                                                {"count", "9"},
                                                {"order", "m"},
                                                {"backup", "max"},
                                                {"bucket", "0.5"},
                                                {"weights", "a/b"},
                                                {"word", "hey"},
                                                {"of-another", "x"}});
  EXPECT_FALSE(settings.insert);
  EXPECT_EQ(settings.part, 1);
  EXPECT_EQ(settings.range, 5);
  EXPECT_EQ(settings.count, 9u);
  EXPECT_EQ(settings.order, Order::M);
  EXPECT_TRUE(settings.maximum);
  EXPECT_EQ(settings.bucket, Bytes(1 << 19));
  EXPECT_EQ(settings.weights, "a/b");
  EXPECT_EQ(settings.word, "hey!");
}

TEST(OptionTable, the_paper_changes_defaults_only) {
  EXPECT_EQ(read_options<Settings>({{"variant", "paper"}}).range, 7);
  const auto settings = read_options<Settings>({{"variant", "paper"}, {"range", "200"}});
  EXPECT_TRUE(settings.paper);
  EXPECT_EQ(settings.range, 200);
  EXPECT_EQ(read_options<Settings>({{"variant", "default"}}).range, 200);
}

std::string refusal(const std::string& key, const std::string& value) {
  try {
    read_options<Settings>({{key, value}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OptionTable, refusals_say_what_is_taken) {
  EXPECT_EQ(refusal("part", "a"), "--set part=a: 'a' is not a number; give a number such as 1.5");
  EXPECT_EQ(refusal("part", "0"),
            "--set part=0: the value is out of range; give a number above 0, up to 1");
  EXPECT_EQ(refusal("count", "10"),
            "--set count=10: the value is out of range; give a whole number from 0 to 9");
  EXPECT_EQ(refusal("count", "1.5"),
            "--set count=1.5: '1.5' is not a whole number; give a whole number such as 8");
  EXPECT_EQ(refusal("order", "n"), "--set order=n: 'n' is not a choice; give one of: cpd, dfs, m");
  EXPECT_EQ(refusal("insert", "maybe"),
            "--set insert=maybe: 'maybe' is neither true nor false; give true or false");
  for (const char* text : {"nan", "inf", "", "1 ", "0x1"}) EXPECT_NE(refusal("part", text), "");
  EXPECT_NE(refusal("range", "0"), "");
  EXPECT_NE(refusal("range", "2147483648"), "");
  EXPECT_NE(refusal("count", "-1"), "");
  EXPECT_NE(refusal("bucket", "-1"), "");
}

TEST(OptionTable, unknown_keys_are_refused_with_the_known_ones) {
  const std::vector<OptionHelp> known = {{"a", "1", ""}, {"b", "2", ""}};
  EXPECT_NO_THROW(refuse_unknown_options("planner 'x'", known, {{"b", "3"}}));
  const auto message = [](const std::vector<OptionHelp>& list) -> std::string {
    try {
      refuse_unknown_options("planner 'x'", list, {{"c", "3"}});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(known), "--set c=3: planner 'x' has no option 'c'; it has: a, b");
  EXPECT_EQ(message({}), "--set c=3: planner 'x' has no option 'c'; leave it out");
}

}  // namespace
}  // namespace strato
