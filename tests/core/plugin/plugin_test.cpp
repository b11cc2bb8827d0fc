#include "core/plugin/api/plugin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

std::string manifest(const std::string& kind, const std::string& names,
                     const std::string& more = "") {
  return R"({"format": "stratoscope-plugin", "version": 1, "kind": ")" + kind + R"(", "names": [)" +
         names + "]" + more + "}";
}

std::string manifest_2(const std::string& names) {
  return R"({"format": "stratoscope-plugin", "version": 2, "kind": "planner", "names": [)" + names +
         "]}";
}

void put(const fs::path& folder, const std::string& text, bool with_library = true) {
  fs::create_directories(folder);
  write_file(folder / "plugin.json", text);
  if (with_library) fs::copy_file(TEST_PLUGIN_LIBRARY, folder / "plugin.so");
}

TEST(PluginRegistry, AThirdPartyPluginInThePathWorks) {
  TemporaryFolder folder;
  put(folder / "planners/sample",
      manifest("planner", R"("b", "a")", R"(, "summary": "Says little")"));
  const PluginRegistry registry({folder.path()});
  EXPECT_TRUE(registry.warnings().empty());
  const auto planners = registry.list(PluginKind::Planner);
  ASSERT_EQ(planners.size(), 2u);
  EXPECT_EQ(planners[0].name, "a");
  EXPECT_EQ(planners[1].summary, "Says little");
  EXPECT_EQ(registry.planner("b")->name(), "b");
  EXPECT_TRUE(registry.list(PluginKind::Launcher).empty());
}

TEST(PluginRegistry, NamesOfOneLibraryAreDescribedOneByOne) {
  TemporaryFolder folder;
  put(folder / "planners/several",
      manifest_2(R"({"name": "b", "summary": "Searches", "effort": "search"}, {"name": "a"})"));
  const PluginRegistry registry({folder.path()});
  EXPECT_TRUE(registry.warnings().empty());
  const auto planners = registry.list(PluginKind::Planner);
  ASSERT_EQ(planners.size(), 2u);
  EXPECT_EQ(planners[0].summary, "");
  EXPECT_EQ(planners[0].effort, Effort::Quick);
  EXPECT_EQ(planners[1].summary, "Searches");
  EXPECT_EQ(planners[1].effort, Effort::Search);
  EXPECT_EQ(registry.planner("b")->name(), "b");
}

TEST(PluginRegistry, TheFirstFolderWins) {
  TemporaryFolder first, second;
  put(first / "planners/x", manifest("planner", R"("p")", R"(, "summary": "first")"), false);
  put(second / "planners/x", manifest("planner", R"("p", "q")", R"(, "summary": "second")"), false);
  const PluginRegistry registry({first.path(), second.path()});
  ASSERT_EQ(registry.list(PluginKind::Planner).size(), 2u);
  EXPECT_EQ(registry.list(PluginKind::Planner)[0].summary, "first");
  EXPECT_EQ(registry.list(PluginKind::Planner)[1].summary, "second");
}

TEST(PluginRegistry, TheVariableGoesBeforeTheHome) {
  TemporaryFolder folder;
  ::setenv("STRATOSCOPE_PLUGIN_PATH", ("/none::" + folder.path().string()).c_str(), 1);
  const auto folders = PluginRegistry::default_folders();
  ::unsetenv("STRATOSCOPE_PLUGIN_PATH");
  ASSERT_EQ(folders.size(), 3u);
  EXPECT_EQ(folders[0], "/none");
  EXPECT_EQ(folders[1], folder.path());
  EXPECT_EQ(folders[2], home_directory() / "plugins");
}

TEST(PluginRegistry, UnknownNamesListWhatThereIs) {
  TemporaryFolder folder;
  put(folder / "planners/sample", manifest("planner", R"("b", "a")"));
  const PluginRegistry registry({folder.path()});
  EXPECT_EQ(message_of([&] { registry.planner("c"); }),
            "there is no planner \"c\"; choose one of: a, b");
  EXPECT_NE(message_of([&] { registry.exporter("c"); }).find("STRATOSCOPE_PLUGIN_PATH"),
            std::string::npos);
}

TEST(PluginRegistry, BrokenLibrariesSayWhatIsWrong) {
  TemporaryFolder folder;
  put(folder / "planners/absent", manifest("planner", R"("absent")"), false);
  put(folder / "planners/noise", manifest("planner", R"("noise")"), false);
  write_file(folder / "planners/noise/plugin.so", "not a library");
  put(folder / "exporters/sample", manifest("exporter", R"("e")"));
  put(folder / "planners/nobody", manifest("planner", R"("nobody")"));
  const PluginRegistry registry({folder.path()});
  EXPECT_NE(message_of([&] { registry.planner("absent"); }).find("plugin.so: is not there"),
            std::string::npos);
  EXPECT_NE(message_of([&] { registry.planner("noise"); }).find("cannot be loaded"),
            std::string::npos);
  EXPECT_NE(message_of([&] { registry.planner("noise"); }).find("cannot be loaded"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { registry.exporter("e"); }).find("has no function stratoscope_make_exporter"),
      std::string::npos);
  EXPECT_NE(message_of([&] { registry.planner("nobody"); }).find("does not make \"nobody\""),
            std::string::npos);
}

TEST(PluginRegistry, BadManifestsAreWarningsAndTheRestWorks) {
  TemporaryFolder folder;
  const std::pair<std::string, std::string> bad[] = {
      {"{", "is not valid JSON"},
      {R"({"format": "x", "version": 1, "kind": "planner", "names": ["n"]})", "format"},
      {R"({"format": "stratoscope-plugin", "version": 3, "kind": "planner", "names": ["n"]})",
       "version"},
      {manifest_2(R"("n")"), "names[0]: is not an object"},
      {manifest_2(R"({"name": ""})"), "names[0].name: is empty"},
      {manifest_2(R"({"name": "n", "colour": 1})"), "names[0].colour: is not a known key"},
      {manifest_2(R"({"name": "n", "effort": "huge"})"), "names[0].effort: is not an effort"},
      {manifest_2(R"({"name": "n"}], "summary": "of all", "extensions": [)"),
       "summary: is not a known key"},
      {manifest("exporter", R"("n")"), "does not fit its folder planners"},
      {manifest("planner", ""), "names: is empty"},
      {manifest("planner", "1"), "names[0]: is not a text"},
      {manifest("planner", R"("")"), "names[0]: is empty"},
      {manifest("planner", R"("n")", R"(, "colour": 1)"), "colour: is not a known key"},
      {manifest("planner", R"("n")", R"(, "extensions": ["onnx"])"), "is not an extension"},
      {manifest("planner", R"("n")", R"(, "effort": "huge")"), "effort: is not an effort"},
      {"[]", "is not an object"},
  };
  char letter = 'a';  // warnings come in the order of the folders' names
  for (const auto& [text, problem] : bad)
    put(folder / (std::string("planners/bad_") + letter++), text, false);
  put(folder / "planners/good", manifest("planner", R"("good")"));
  fs::create_directories(folder / "planners/empty");
  write_file(folder / "planners/stray.txt", "not a folder");
  const PluginRegistry registry({folder.path()});
  ASSERT_EQ(registry.warnings().size(), std::size(bad));
  for (std::size_t i = 0; i < std::size(bad); ++i) {
    EXPECT_NE(registry.warnings()[i].find(bad[i].second), std::string::npos)
        << registry.warnings()[i];
  }
  EXPECT_EQ(registry.list(PluginKind::Planner).size(), 1u);
  EXPECT_EQ(registry.planner("good")->name(), "good");
}

TEST(PluginRegistry, APlannersEffortIsWhatItsManifestSays) {
  const TemporaryFolder folder;
  put(folder / "planners/a", manifest("planner", R"("a")"), false);
  put(folder / "planners/b", manifest("planner", R"("b")", R"(, "effort": "search")"), false);
  put(folder / "refiners/c", manifest("refiner", R"("c")", R"(, "effort": "quick")"), false);
  const PluginRegistry plugins({folder.path()});
  const auto planners = plugins.list(PluginKind::Planner);
  ASSERT_EQ(planners.size(), 2U);
  EXPECT_EQ(planners[0].effort, Effort::Quick) << "without a word";
  EXPECT_EQ(planners[1].effort, Effort::Search);
  EXPECT_TRUE(plugins.list(PluginKind::Refiner).empty()) << "efforts are of planners";
}

TEST(PluginRegistry, ImportersAreChosenByExtensionInAnyCase) {
  TemporaryFolder folder;
  put(folder / "importers/sample",
      manifest("importer", R"("s")", R"(, "extensions": [".ABC", ".def"])"));
  const PluginRegistry registry({folder.path()});
  EXPECT_NE(registry.importer_for("x.Abc"), nullptr);
  EXPECT_NE(registry.importer_for("/a.b/x.DEF"), nullptr);
  EXPECT_EQ(message_of([&] { registry.importer_for("m.pb"); }),
            "m.pb: no importer reads .pb files; give a file of one of: .abc, .def");
  EXPECT_NE(message_of([&] { registry.importer_for("model"); }).find("has no extension"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { registry.importer_for("x.abc")->import("x.abc", {}); }),
            "x.abc: line 1: is only a sample; give another");
}

TEST(PluginRegistry, MakesObjectsFromSeveralThreads) {
  TemporaryFolder folder;
  put(folder / "planners/sample", manifest("planner", R"("a")"));
  const PluginRegistry registry({folder.path()});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) EXPECT_EQ(registry.planner("a")->name(), "a");
    });
  }
}

TEST(PluginRegistry, NoFolderAtAllIsFine) {
  const PluginRegistry registry({"/no/such/folder"});
  EXPECT_TRUE(registry.list(PluginKind::Importer).empty());
  EXPECT_TRUE(registry.warnings().empty());
}

}  // namespace
}  // namespace strato
