// Which folder may include which, checked on the sources themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace fs = std::filesystem;

namespace {

using Folders = std::set<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The rooms of core or plugins with what each declares to depend on there:
// strato_library(core/... DEPENDS core/...), strato_part(plugins/... DEPENDS plugins/...), where
// ${here} is what the file sets it to.
std::map<std::string, Folders> declared_rooms(const std::string& top = "core") {
  static const std::regex library(R"((?:strato_library|strato_part)\(([^)]*)\))"),
      here(R"(set\(here ([^)]*)\))"), variable(R"(\$\{here\})");
  const std::regex word(top + R"(/[a-z_/]+)");
  std::map<std::string, Folders> rooms;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(strato::kSourceFolder) / top)) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    std::string text = text_of(entry.path());
    std::smatch folder;
    if (std::regex_search(text, folder, here))
      text = std::regex_replace(text, variable, folder[1].str());
    for (std::sregex_iterator at(text.begin(), text.end(), library), end; at != end; ++at) {
      const std::string words = (*at)[1];
      std::sregex_token_iterator name(words.begin(), words.end(), word), last;
      if (name == last) continue;
      Folders& depends = rooms[*name];
      for (++name; name != last; ++name) depends.insert(*name);
    }
  }
  return rooms;
}

struct Include {
  std::string file, header;  // both relative to the root
  bool in_header;
};

std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> result;
  const fs::path root = strato::kSourceFolder;
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

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

TEST(IncludeDirection, RoomsOfCoreIncludeOnlyWhatTheyDeclare) {
  const auto rooms = declared_rooms();
  ASSERT_GT(rooms.size(), 30u);
  for (const Include& include : includes_below("core")) {
    const std::string from = folder_of(include.file), to = folder_of(include.header);
    ASSERT_TRUE(rooms.contains(from)) << from << " is no target of its own";
    if (!include.header.starts_with("core/")) continue;
    EXPECT_TRUE(from == to || rooms.at(from).contains(to))
        << include.file << " includes " << include.header << ", and " << from
        << " does not declare to depend on " << to;
  }
}

// A plugin that is no room of its own may use all of its own rooms.
TEST(IncludeDirection, RoomsOfPluginsIncludeOnlyWhatTheyDeclare) {
  const auto rooms = declared_rooms("plugins");
  for (const Include& include : includes_below("plugins")) {
    const std::string from = folder_of(include.file), to = folder_of(include.header);
    if (!rooms.contains(from) || !include.header.starts_with("plugins/")) continue;
    EXPECT_TRUE(from == to || rooms.at(from).contains(to))
        << include.file << " includes " << include.header << ", and " << from
        << " does not declare to depend on " << to;
  }
}

// Removes rooms that depend on nothing that is left until none is left.
void expect_one_direction(std::map<std::string, Folders> rooms) {
  const auto is_free = [&](const auto& room) {
    return std::none_of(room.second.begin(), room.second.end(), [&](const std::string& other) {
      return other != room.first && rooms.contains(other);
    });
  };
  for (auto next = rooms.begin(); next != rooms.end();) {
    next = std::find_if(rooms.begin(), rooms.end(), is_free);
    if (next != rooms.end()) rooms.erase(next), next = rooms.begin();
  }
  std::string left;
  for (const auto& [room, depends] : rooms) left += " " + room;
  EXPECT_TRUE(rooms.empty()) << "these depend on each other in a circle:" << left;
}

TEST(IncludeDirection, RoomsDependOnEachOtherInOneDirection) {
  expect_one_direction(declared_rooms());
  expect_one_direction(declared_rooms("plugins"));
}

// "base <- graph, cluster <- cost, strategy <- program <- sim <- search": the order of the folders
// of core.
TEST(IncludeDirection, FoldersOfCoreStandInOneOrder) {
  const std::vector<std::string> order = {"base",    "linear", "io",       "graph",   "data",
                                          "cluster", "cost",   "strategy", "program", "sim",
                                          "report",  "search", "schedule", "compare", "store"};
  const auto place = [&](const std::string& header) {
    return std::find(order.begin(), order.end(), part(header, 1)) - order.begin();
  };
  for (const Include& include : includes_below("core")) {
    if (!include.header.starts_with("core/")) continue;
    EXPECT_LE(place(include.header), place(include.file))
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

// The plugin that a file belongs to: its nearest folder with a plugin.json; empty: a shared room.
std::string plugin_of(const std::string& file) {
  const fs::path root = strato::kSourceFolder;
  for (fs::path folder = fs::path(file).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::exists(root / folder / "plugin.json")) return folder.string();
  return {};
}

// Plugins of one kind may share rooms that belong to none of them.
TEST(IncludeDirection, PluginsDoNotIncludeEachOther) {
  for (const Include& include : includes_below("plugins")) {
    if (!include.header.starts_with("plugins/")) continue;
    const std::string owner = plugin_of(include.header);
    EXPECT_TRUE(owner.empty() || owner == plugin_of(include.file))
        << include.file << " includes " << include.header;
    EXPECT_EQ(part(include.file, 1), part(include.header, 1))
        << include.file << " includes " << include.header;
  }
}

TEST(IncludeDirection, ViewsDoNotIncludeTheProgramsOrPlugins) {
  for (const Include& include : includes_below("views")) {
    EXPECT_FALSE(include.header.starts_with("app/") || include.header.starts_with("plugins/"))
        << include.file << " includes " << include.header;
  }
}

// The folder that a file is private to: its own, or in plugins that of the plugin with its rooms.
std::string home_of(const std::string& path) {
  if (!path.starts_with("plugins/")) return folder_of(path);
  return part(path, 0) + "/" + part(path, 1) + "/" + part(path, 2);
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
    if (include.in_header && std::regex_search(include.header, heavy))
      heavy_headers.insert(include.file);
  }
  for (const Include& include : all) {
    if (!heavy_headers.contains(include.header)) continue;
    EXPECT_EQ(home_of(include.file), home_of(include.header))
        << include.file << " includes " << include.header << ", which includes a heavy header";
  }
}

}  // namespace
