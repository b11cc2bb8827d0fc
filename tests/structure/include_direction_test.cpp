// Which folder may include which, checked on the sources themselves.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace {

using Folders = std::set<std::string>;

const std::map<std::string, Folders> kCoreMayInclude = {
    {"base", {}},
    {"process", {"base"}},
    {"graph", {"base"}},
    {"data", {"base", "graph"}},
    {"cluster", {"base"}},
    {"cost", {"base", "graph", "cluster"}},
    {"strategy", {"base", "graph", "cluster"}},
    {"program", {"base", "graph", "cluster", "cost", "strategy"}},
    {"sim", {"base", "graph", "cluster", "cost", "strategy", "program"}},
    {"report", {"base", "graph", "cluster", "cost", "strategy", "program", "sim"}},
    {"search", {"base", "graph", "cluster", "cost", "strategy", "program", "sim"}},
    {"search/schedule",
     {"base", "graph", "cluster", "cost", "strategy", "program", "sim", "search"}},
    {"compare",
     {"base", "graph", "cluster", "cost", "strategy", "program", "sim", "report", "search"}},
    {"store", {"base"}},
    {"job", {"base", "graph", "cluster", "cost", "strategy", "program"}},
    {"measured", {"base", "graph", "cluster", "cost", "strategy", "program", "sim", "search", "job"}},
    {"plugin",
     {"base", "graph", "data", "cluster", "cost", "strategy", "program", "sim", "search", "job"}},
    {"profiling",
     {"base", "graph", "cluster", "cost", "strategy", "program", "sim", "search", "job", "plugin"}},
    {"discover",
     {"base", "graph", "cluster", "cost", "strategy", "program", "sim", "search", "job", "plugin",
      "profiling"}},
};

struct Include {
  std::string file, header;  // both relative to the root
  bool in_header;
};

std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> result;
  const fs::path root = STRATO_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, pattern)) continue;
      result.push_back({fs::relative(entry.path(), root).string(), match[1], extension == ".h"});
    }
  }
  return result;
}

std::string part(const std::string& path, int index) {
  const fs::path whole(path);
  auto it = whole.begin();
  std::advance(it, index);
  return it->string();
}

// A folder inside another one counts for itself where it has a row of its own.
std::string core_folder(const std::string& path) {
  const std::string inner = fs::path(path).parent_path().lexically_relative("core").string();
  return kCoreMayInclude.contains(inner) ? inner : part(path, 1);
}

TEST(IncludeDirection, CoreFoldersIncludeOnlyWhatIsBelowThem) {
  for (const Include& include : includes_below("core")) {
    if (!include.header.starts_with("core/")) continue;
    const std::string from = core_folder(include.file), to = core_folder(include.header);
    ASSERT_TRUE(kCoreMayInclude.contains(from)) << "new folder core/" << from;
    EXPECT_TRUE(from == to || kCoreMayInclude.at(from).contains(to))
        << include.file << " includes " << include.header;
  }
}

TEST(IncludeDirection, NothingBelowTheViewsKnowsThem) {
  for (const std::string folder : {"core", "plugins"}) {
    for (const Include& include : includes_below(folder)) {
      EXPECT_FALSE(include.header.starts_with("views/") || include.header.starts_with("app/") ||
                   include.header.starts_with("Q"))
          << include.file << " includes " << include.header;
      if (folder == "core") {
        EXPECT_FALSE(include.header.starts_with("plugins/")) << include.file;
      }
    }
  }
}

// Plugins of one kind may share a folder that is none itself: it has no plugin.json.
TEST(IncludeDirection, PluginsDoNotIncludeEachOther) {
  const fs::path root = STRATO_SOURCE_DIR;
  for (const Include& include : includes_below("plugins")) {
    if (!include.header.starts_with("plugins/")) continue;
    const fs::path shared = fs::path(include.header).parent_path();
    if (shared.parent_path() == fs::path(include.file).parent_path().parent_path() &&
        !fs::exists(root / shared / "plugin.json"))
      continue;
    EXPECT_EQ(part(include.file, 2), part(include.header, 2))
        << include.file << " includes " << include.header;
  }
}

TEST(IncludeDirection, ViewsDoNotIncludeTheProgramsOrPlugins) {
  for (const Include& include : includes_below("views")) {
    EXPECT_FALSE(include.header.starts_with("app/") || include.header.starts_with("plugins/"))
        << include.file << " includes " << include.header;
  }
}

// A header may include one of these only when it is private to its folder.
TEST(IncludeDirection, HeavyHeadersStayInTheFoldersThatNeedThem) {
  static const std::regex heavy(
      R"(^(torch/|onnx/|metis\.h|Cbc|Coin|Osi|SQLiteCpp/|sqlite3\.h|graphviz/|cuda|nccl|tbb/|CLI/|zstd\.h))");
  std::vector<Include> all;
  for (const std::string folder : {"core", "plugins", "views", "app"}) {
    const auto some = includes_below(folder);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::set<std::string> heavy_headers;
  for (const Include& include : all) {
    if (include.in_header && std::regex_search(include.header, heavy)) heavy_headers.insert(include.file);
  }
  for (const Include& include : all) {
    if (!heavy_headers.contains(include.header)) continue;
    EXPECT_EQ(fs::path(include.file).parent_path(), fs::path(include.header).parent_path())
        << include.file << " includes " << include.header << ", which includes a heavy header";
  }
}

}  // namespace
