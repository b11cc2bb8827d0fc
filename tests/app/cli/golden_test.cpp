// Text goldens: tests/golden/NAME.json says what to run, NAME.txt what comes out. A difference
// leaves NAME.actual beside them; look at it, and rename it when it is right
// (STRATOSCOPE_UPDATE_GOLDEN=1 does so for all).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/paths.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

const fs::path kFolder = fs::path(kSourceFolder) / "tests" / "golden";

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what))
    text.replace(at, what.size(), by);
  return text;
}

// The program finds the samples beside itself.
std::string without_home(std::string text) {
  return replaced(replaced(std::move(text), kBuildFolder, "@home"), kSourceFolder, "@source");
}

std::string actual_text(const fs::path& input) {
  const JsonView test = JsonView::parse(read_file(input), input.string());
  std::vector<std::string> arguments;
  for (const JsonView& argument : test.at("arguments").items())
    arguments.push_back(replaced(argument.string(), "@source", kSourceFolder));
  const CliResult result = run_cli(arguments);
  return "exit status " + std::to_string(result.status) + "\n" + without_times(result.out) +
         (result.err.empty() ? "" : "--- standard error\n" + without_home(result.err));
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, SaysTheSame) {
  const fs::path expected = kFolder / (GetParam() + ".txt"),
                 actual = kFolder / (GetParam() + ".actual");
  const std::string text = actual_text(kFolder / (GetParam() + ".json"));
  if (std::getenv("STRATOSCOPE_UPDATE_GOLDEN") != nullptr) write_file(expected, text);
  if (fs::exists(expected) && read_file(expected) == text) {
    fs::remove(actual);
    return;
  }
  write_file(actual, text);
  ADD_FAILURE() << "differs: diff " << expected << " " << actual << "\n" << text;
}

INSTANTIATE_TEST_SUITE_P(CommandLine, Golden, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

// What README.md shows of its first example, up to the ellipsis, is what the program prints.
TEST(Readme, ExampleIsWhatThePlannerFinds) {
  const std::string readme = read_file(fs::path(kSourceFolder) / "README.md");
  const std::size_t begin = readme.find("\nvgg19 on TAG testbed") + 1,
                    end = readme.find("  …", begin);
  ASSERT_TRUE(begin != 0 && end != std::string::npos);
  const CliResult result =
      run_cli({"plan", "--graph", "vgg19", "--batch", "96", "--cluster", "tag-testbed", "--planner",
               "mcts", "--iterations", "800", "--seed", "1"});
  std::istringstream shown(readme.substr(begin, end - begin));
  int lines = 0;
  for (std::string line; std::getline(shown, line); ++lines) {
    if (line.starts_with("  took")) continue;
    EXPECT_NE(result.out.find(line), std::string::npos) << line << "\nis not in\n" << result.out;
  }
  EXPECT_GT(lines, 10);
}

}  // namespace
}  // namespace strato
