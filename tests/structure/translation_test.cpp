// What people read in the window goes through tr() or translate(): found by what sentences look
// like.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace fs = std::filesystem;

namespace {

// Names that are the same in every language, and what a parser reads.
const std::set<std::string> kNoWords = {"Stratoscope", "200 iterations", "800 iterations",
                                        "3000 iterations", "2 min"};

struct Literal {
  std::string file, text;
  int line = 0;
};

std::string read(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Without the quotes; of literals that stand beside each other, one.
std::string joined(const std::string& quoted) {
  static const std::regex pattern(R"re("((?:[^"\\]|\\.)*)")re");
  std::string text;
  for (std::sregex_iterator at(quoted.begin(), quoted.end(), pattern), end; at != end; ++at)
    text += (*at)[1];
  return text;
}

// Tags, places for values, and escapes are not words.
std::vector<std::string> words_of(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex(R"(<[^>]*>|%\d|\\.|&\w+;)"), " ");
  static const std::regex word(R"([A-Za-z]{2,})");
  return {std::sregex_token_iterator(plain.begin(), plain.end(), word), {}};
}

// Two words with a space between them, or one that begins as a title does.
bool is_read_by_people(const std::string& text) {
  if (kNoWords.contains(text)) return false;
  static const std::regex key(R"(^(Ctrl|Alt|Shift|Meta)\+.*|^F\d+$|^Qt::.*)");
  static const std::regex format(R"(^[yMdhHmsz:.\- T]+$)");
  if (std::regex_match(text, key) || std::regex_match(text, format)) return false;
  const std::vector<std::string> words = words_of(text);
  if (words.size() >= 2) {
    static const std::regex apart(R"([A-Za-z)%>,.;:][ ]+[A-Za-z(%<&])");
    return std::regex_search(text, apart);
  }
  static const std::regex title(R"(^&?[A-Z]&?[a-z]+(…)?$)");
  return std::regex_match(text, title);
}

std::vector<Literal> untranslated(const std::string& name, const std::string& source) {
  static const std::regex literal(R"re(QStringLiteral\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\))re");
  static const std::regex of_no_word(R"(setObjectName\(\s*$)");
  std::vector<Literal> found;
  for (std::sregex_iterator at(source.begin(), source.end(), literal), end; at != end; ++at) {
    const std::string text = joined((*at)[1]);
    const auto begin = static_cast<std::size_t>(at->position());
    const std::string before =
        source.substr(begin > 40 ? begin - 40 : 0, std::min<std::size_t>(begin, 40));
    if (!is_read_by_people(text) || std::regex_search(before, of_no_word)) continue;
    const auto lines = std::count(source.begin(), source.begin() + at->position(), '\n');
    found.push_back({name, text, static_cast<int>(lines) + 1});
  }
  return found;
}

std::vector<Literal> untranslated_below(const std::string& folder) {
  std::vector<Literal> found;
  const fs::path root = strato::kSourceFolder;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".cpp" && file.extension() != ".h") continue;
    // The command line speaks English, as that of the other programs does.
    if (file.filename() == "main.cpp") continue;
    const std::string name = fs::relative(file, root).string();
    for (Literal& literal : untranslated(name, read(file))) found.push_back(std::move(literal));
  }
  return found;
}

class Translation : public ::testing::TestWithParam<const char*> {};

TEST_P(Translation, SentencesGoThroughTr) {
  for (const Literal& literal : untranslated_below(GetParam()))
    ADD_FAILURE() << literal.file << ":" << literal.line << ": \"" << literal.text
                  << "\" is read by people: tr(), or QCoreApplication::translate() where there is "
                     "no QObject";
}

// Folders whose words are all done; others are added as they are.
INSTANTIATE_TEST_SUITE_P(Folders, Translation,
                         ::testing::Values("app/explorer", "views/charts", "views/cluster",
                                           "views/compare", "views/graph", "views/history",
                                           "views/inspector", "views/launch", "views/memory",
                                           "views/models", "views/pipeline", "views/placement",
                                           "views/planning", "views/search", "views/style",
                                           "views/timeline", "views/tournament", "views/what_if",
                                           "views/workspace"),
                         [](const auto& info) {
                           return std::regex_replace(std::string(info.param), std::regex("/"), "_");
                         });

TEST(TranslationRule, KnowsSentencesFromNames) {
  const auto count = [](const char* source) { return untranslated("a.cpp", source).size(); };
  EXPECT_EQ(count(R"(label(QStringLiteral("Open a model")))"), 1u);
  EXPECT_EQ(count(R"(label(QStringLiteral("%1 of %2 shown")))"), 1u);
  EXPECT_EQ(count(R"(label(QStringLiteral("<b>%1</b> in the mean")))"), 1u);
  EXPECT_EQ(count("label(QStringLiteral(\n\"Open a \"\n  \"model\"))"), 1u);
  EXPECT_EQ(count(R"(menu(QStringLiteral("&File")))"), 1u);
  EXPECT_EQ(count(R"(menu(QStringLiteral("Options…")))"), 1u);
  EXPECT_EQ(count(R"(label(tr("Open a model")))"), 0u);
  EXPECT_EQ(count(R"(setObjectName(QStringLiteral("The Name")))"), 0u);
  EXPECT_EQ(count(R"(value(QStringLiteral("window/state")))"), 0u);
  EXPECT_EQ(count(R"(value(QStringLiteral("simulation/fair_links")))"), 0u);
  EXPECT_EQ(count(R"(html(QStringLiteral("<span style='color:%1'>%2</span>")))"), 0u);
  EXPECT_EQ(count(R"(key(QStringLiteral("Ctrl+Shift+P")))"), 0u);
  EXPECT_EQ(count(R"(time(QStringLiteral("yyyy-MM-dd hh:mm")))"), 0u);
  EXPECT_EQ(count(R"(join(QStringLiteral("%1 · %2")))"), 0u);
  EXPECT_EQ(count(R"(title(QStringLiteral("Stratoscope")))"), 0u);
}

}  // namespace
