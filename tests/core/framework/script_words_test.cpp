// The words of scripts and of YAML.
#include "core/framework/given/script_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/message_of.h"

namespace strato::frameworks {
namespace {

std::string joined(const std::vector<ScriptWord>& words) {
  std::vector<std::string> texts;
  for (const ScriptWord& word : words)
    texts.push_back(word.unknown.empty() ? word.text : "?" + word.unknown);
  return fmt::format("{}", fmt::join(texts, " "));
}
std::string words_of(std::string_view text) { return joined(script_words(text, "run.sh")); }
std::string yaml_of(std::string_view text) { return joined(yaml_words(text, "run.yaml")); }
std::string script_refusal(std::string_view text) {
  return message_of([&] { script_words(text, "run.sh"); });
}

TEST(ScriptWords, AreThoseBehindTheProgram) {
  EXPECT_EQ(words_of("torchrun --nnodes 2 pretrain_gpt.py --a 1 \\\n  --b 2\n"), "--a 1 --b 2");
  EXPECT_EQ(words_of("python x.py --a 1\r\n"), "--a 1");
  EXPECT_EQ(words_of("python x.py --a 1 \\\r\n --b 2\r\n"), "--a 1 --b 2");
  EXPECT_EQ(words_of("python a.py --a 1; python b.py --b 2 & wait"), "--b 2");
  EXPECT_EQ(words_of("python x.py --a 1 2>&1 | tee log"), "--a 1");
  EXPECT_EQ(words_of("python x.py --a 1 > log 2>&1"), "--a 1");
  EXPECT_EQ(words_of("--a 1\n--b 2"), "--a 1 --b 2");
  EXPECT_EQ(words_of("echo hello\n"), "");
}

TEST(ScriptWords, VariablesThatDoubleAreRefused) {
  std::string values = "A=xxxxxxxx\n", arrays = "A=(--a)\n";
  for (int line = 0; line < 60; ++line) {
    values += "A=\"$A$A\"\n";
    arrays += "A+=(\"${A[@]}\" \"${A[@]}\")\n";
  }
  for (const std::string& script : {values, arrays}) {
    const std::string refusal = script_refusal(script + "python x.py $A\n");
    EXPECT_NE(refusal.find("the variables hold more than 16 MB in all"), std::string::npos)
        << refusal;
  }
}

TEST(ScriptWords, OfArraysArePutIn) {
  EXPECT_EQ(words_of("A=(\n  --a 1  # why\n  # --no\n  --b 2\n)\nB=(--c)\nrun x.py ${A[@]} "
                     "\"${B[@]}\" \"$@\""),
            "--a 1 --b 2 --c");
  EXPECT_EQ(words_of("A=(--a 1)\nA+=(--b 2)\n"), "--a 1 --b 2");  // without a command: all arrays
  EXPECT_EQ(words_of("A=(--a 1)\nA=(--b 2)\nx.py ${A[@]}"), "--b 2");
  EXPECT_EQ(words_of("A=()\nx.py ${A[@]} --b"), "--b");
  EXPECT_EQ(words_of("A=(--a)\nB=(${A[@]} --b)\nx.py ${B[@]}"), "--a --b");
  EXPECT_EQ(words_of("x.py ${A[@]}"), "?${A[@]}");
}

TEST(ScriptWords, QuotesAreTheShells) {
  EXPECT_EQ(words_of("x.py --l 'Et|(t|)*2L' --m \"a|\\\"b\" --n a\\|b '#' a#b"),
            "--l Et|(t|)*2L --m a|\"b --n a|b # a#b");
  EXPECT_EQ(script_words("x.py --a ''", "f")[1].text, "");
  EXPECT_NE(script_refusal("x.py --l Et|t").find("put the value into quotes"), std::string::npos);
  EXPECT_NE(script_refusal("x.py --l E(t|)*2L").find("put the value into quotes"),
            std::string::npos);
  EXPECT_NE(script_refusal("A=(--a E|t)").find("put the value into quotes"), std::string::npos);
  EXPECT_NE(script_refusal("\n\nx.py 'a").find("line 3: a ' is not closed"), std::string::npos);
  EXPECT_NE(script_refusal("x.py \"a").find("a \" is not closed"), std::string::npos);
  EXPECT_NE(script_refusal("A=(\n--a 1").find("line 1: an array is not closed"), std::string::npos);
}

TEST(ScriptWords, VariablesAreWhatTheFileSetsThemTo) {
  EXPECT_EQ(words_of("TP=8\nexport PP=4\nx.py --t $TP --p ${PP} --q \"a$TP\""),
            "--t 8 --p 4 --q a8");
  EXPECT_EQ(words_of("ARGS=\"--a 1 \\\n --b 2\"\nx.py $ARGS --c"), "--a 1 --b 2 --c");
  EXPECT_EQ(words_of("x.py --t $TP"), "--t ?$TP");
  EXPECT_EQ(words_of("x.py --t ${TP:-8}"), "--t ?${TP:-8}");
  EXPECT_EQ(words_of("N=$((8*2))\nx.py --t $N --u $(nproc) "), "--t ?$N --u ?$(nproc)");
  EXPECT_EQ(words_of("TP=$A\nx.py --t $TP"), "--t ?$TP");
  EXPECT_EQ(words_of("x.py --t '$TP'"), "--t $TP");
  EXPECT_NE(script_refusal("x.py ${TP").find("a { is not closed"), std::string::npos);
}

TEST(ScriptWords, OfWhatIsNoText) {
  EXPECT_NE(script_refusal(std::string(1 << 20, '\0')).find("is no text"), std::string::npos);
  EXPECT_EQ(words_of(""), "");
  EXPECT_EQ(words_of("\\"), "");
  EXPECT_EQ(words_of("$"), "");
  EXPECT_EQ(words_of("x.py --a \\"), "--a ");
}

TEST(ScriptWords, OfYamlAreLinesThatBeginWithNames) {
  EXPECT_EQ(yaml_of("ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --a: 8 # why\n  --b: true\n  --c: false\n"
                    "  --l: 'Et|t*2|tL'\n  --m: \"a b\"\n  # --d: 1\n"),
            "--a 8 --b --l Et|t*2|tL --m a b");
  EXPECT_EQ(yaml_of("- --a 8\n- \"--b\"\n- '--c=3'\n- x: 2\n"), "--a 8 --b --c 3");
  EXPECT_EQ(yaml_of("--a: ${TP}\n"), "--a ?${TP}");
  EXPECT_EQ(yaml_of("---\n- a\n-\n--\n"), "");
}

}  // namespace
}  // namespace strato::frameworks
