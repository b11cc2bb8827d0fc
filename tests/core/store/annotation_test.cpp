// Tags and notes: what is a tag, the round trip, files of before, and what goes with a run.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/store/sqlite/database_file.h"
#include "core/store/tables.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

using Words = std::vector<std::string>;

struct OneOfEach {
  ModelRow model = 0;
  ClusterRow cluster = 0;
  RunRow run = 0;
  StrategyRow strategy = 0;
};
OneOfEach add_one_of_each(Workspace& workspace) {
  OneOfEach rows;
  rows.model = workspace.add(StoredModel{0, "lenet", "", "{}", digest_of("lenet"), "content"});
  rows.cluster = workspace.add(StoredCluster{0, "gdp", "{}", digest_of("gdp")});
  StoredRun run;
  run.model = rows.model;
  run.cluster = rows.cluster;
  run.planner = "mcts";
  run.options = "{}";
  rows.run = workspace.add(run);
  StoredStrategy strategy;
  strategy.model = rows.model;
  strategy.cluster = rows.cluster;
  strategy.json = "{}";
  strategy.digest = digest_of("strategy");
  rows.strategy = workspace.add(strategy);
  return rows;
}

TEST(Tags, AreWordsOnceEach) {
  EXPECT_EQ(parse_tags(""), Words());
  EXPECT_EQ(parse_tags("  ,, # ##\t"), Words());
  EXPECT_EQ(parse_tags("slow, #Baseline slow\nSLOW"), Words({"Baseline", "slow"}));
  EXPECT_EQ(parse_tags("für-später 深い 🙂"), Words({"für-später", "深い", "🙂"}));
  EXPECT_EQ(parse_tags("a'b \"c\" %_ x:y"), Words({"\"c\"", "%_", "a'b", "x:y"}));
  const Words tags = parse_tags("b a c");
  EXPECT_EQ(parse_tags(tags_text(tags)), tags);
}

TEST(Tags, ThatAreNoWordsAreRefused) {
  EXPECT_EQ(parse_tags(std::string(kLongestTag, 'x')).size(), 1u);
  EXPECT_THROW(parse_tags(std::string(kLongestTag + 1, 'x')), InputError);
  EXPECT_THROW(parse_tags("bell\a"), InputError);
  EXPECT_THROW(parse_tags(std::string("nul\0l", 5)), InputError);
}

TEST(StoredItem, IsAKindAndANumber) {
  EXPECT_EQ(parse_stored_item("run", "3"), (StoredItem{StoredKind::Run, 3}));
  for (const auto& [kind, row] : {std::pair{"run", ""},
                                  {"run", "x"},
                                  {"run", "3x"},
                                  {"run", "0"},
                                  {"run", "-1"},
                                  {"run", "99999999999999999999"},
                                  {"plan", "3"}})
    EXPECT_THROW(parse_stored_item(kind, row), InputError) << kind << " " << row;
}

TEST(Annotations, ComeBackForEveryKind) {
  TemporaryFolder folder;
  std::map<StoredItem, Annotation> said;
  {
    Workspace workspace(folder / "a.strata");
    const OneOfEach rows = add_one_of_each(workspace);
    said[{StoredKind::Model, rows.model}] = {{"big"}, "line one\nline two"};
    said[{StoredKind::Cluster, rows.cluster}] = {{}, "of the lab"};
    said[{StoredKind::Run, rows.run}] = {{"a", "b"}, ""};
    said[{StoredKind::Strategy, rows.strategy}] = {{"ship"}, "'; DROP TABLE run; --"};
    for (const auto& [item, annotation] : said) workspace.annotations().set(item, annotation);
  }
  Workspace workspace(folder / "a.strata");
  EXPECT_EQ(workspace.annotations().all(), said);
  for (const auto& [item, annotation] : said)
    EXPECT_EQ(workspace.annotations().of(item), annotation);
  const auto& [item, annotation] = *said.begin();
  workspace.annotations().set(item, {{"other"}, ""});
  EXPECT_EQ(workspace.annotations().of(item), (Annotation{{"other"}, ""}));
  workspace.annotations().set(item, {});
  EXPECT_EQ(workspace.annotations().all().size(), said.size() - 1);
  EXPECT_TRUE(workspace.annotations().of(item).empty());
}

TEST(Annotations, OfWhatIsNotThereAreRefused) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const OneOfEach rows = add_one_of_each(workspace);
  const std::int64_t version = workspace.data_version();
  EXPECT_THROW(workspace.annotations().set({StoredKind::Run, 99}, {{"x"}, ""}), InputError);
  EXPECT_THROW(
      workspace.annotations().set({StoredKind::Run, rows.run}, {{std::string(99, 'x')}, ""}),
      InputError);
  EXPECT_TRUE(workspace.annotations().all().empty());
  EXPECT_EQ(workspace.data_version(), version);
  EXPECT_TRUE(workspace.annotations().of({StoredKind::Run, 99}).empty());
}

// A run takes its own with it, and a later run does not find them.
TEST(Annotations, GoWithTheirRun) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const OneOfEach rows = add_one_of_each(workspace);
  workspace.annotations().set({StoredKind::Run, rows.run}, {{"x"}, "y"});
  workspace.annotations().set({StoredKind::Strategy, rows.strategy}, {{"stays"}, ""});
  StoredRun run = *workspace.runs().find(rows.run);
  workspace.runs().remove(rows.run);
  EXPECT_EQ(workspace.annotations().all().size(), 1u);
  const RunRow next = workspace.add(run);
  EXPECT_NE(next, rows.run);
  EXPECT_TRUE(workspace.annotations().of({StoredKind::Run, next}).empty());
}

// The version before had none: it is migrated where it may be written, and read as it is elsewhere.
TEST(Annotations, AreEmptyInAFileOfTheVersionBefore) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  RunRow run = 0;
  {
    const auto before = store::migrations().first(4);
    const auto database = store::open_database(file, false, before);
    database->exec("INSERT INTO value VALUES ('k', 0, 2, '{}')");
    database->exec(
        "INSERT INTO model VALUES (1, 'm', '', '{}', "
        "'000000000000000000000000000000aa', 'k')");
    database->exec("INSERT INTO cluster VALUES (1, 'c', '000000000000000000000000000000bb', 'k')");
    database->exec("INSERT INTO run VALUES (7, 1, 1, 'mcts', '{}', 2, NULL, 3, 2, 1, 1, '', '')");
    run = 7;
  }
  {
    const Workspace reader(file, true);
    EXPECT_TRUE(reader.annotations().all().empty());
    EXPECT_TRUE(reader.annotations().of({StoredKind::Run, run}).empty());
    EXPECT_EQ(reader.runs().all().size(), 1u);
  }
  Workspace writer(file);
  writer.annotations().set({StoredKind::Run, run}, {{"old"}, "kept"});
  EXPECT_EQ(Workspace(file, true).annotations().of({StoredKind::Run, run}),
            (Annotation{{"old"}, "kept"}));
}

// What another program wrote there costs its own tags only.
TEST(Annotations, ThatAreDamagedCostNothingElse) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.strata";
  Workspace workspace(file);
  const OneOfEach rows = add_one_of_each(workspace);
  workspace.annotations().set({StoredKind::Run, rows.run}, {{"good"}, ""});
  workspace.annotations().set({StoredKind::Model, rows.model}, {{"bad"}, "note"});
  {
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec("UPDATE annotation SET tags = char(7) || 'x' WHERE kind = 0");
    other.exec("INSERT INTO annotation VALUES (9, 1, 'x', 'y'), (-1, 1, 'x', 'y')");
  }
  EXPECT_EQ(workspace.annotations().all().size(), 2u);
  EXPECT_EQ(workspace.annotations().of({StoredKind::Model, rows.model}), (Annotation{{}, "note"}));
  EXPECT_EQ(workspace.annotations().of({StoredKind::Run, rows.run}).tags, Words({"good"}));
}

}  // namespace
}  // namespace strato
