// Measurement jobs: what is planned to be measured, what is staged, and what is refused.
#include "core/launch/measure/measure_job.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/discover/discover.h"
#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "tests/core/launch/job/staged_job.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

MeasureJob small_job(int devices = 3) {
  const auto cluster = toy::cluster(1, devices);
  return make_measure_job(*cluster, "toy \"quoted\"",
                          {toy::training_chain(12, 2, 8), toy::training_chain(6, 2, 8)}, {});
}

std::string refused(const fs::path& folder, int rank = 0) {
  return message_of([&] { load_measure_job(folder, rank); });
}

std::set<std::vector<int>> sets_in(const MeasureJob& job, Collective kind) {
  std::set<std::vector<int>> sets;
  for (const Probe& probe : job.probes) {
    if (probe.collective != kind) continue;
    EXPECT_TRUE(sets.insert(probe.members).second);
  }
  return sets;
}

TEST(MeasureJob, MeasuresEveryPairBothWaysAndTheSetsOfInterest) {
  const MeasureJob job = make_measure_job(*toy::cluster(2, 2), "c", {}, {});
  ASSERT_EQ(job.ranks.size(), 4u);
  EXPECT_EQ(job.ranks[3].machine, 1);
  std::set<std::pair<int, int>> pairs;
  for (const Probe& probe : job.probes) {
    if (!probe.collective) {
      EXPECT_TRUE(pairs.emplace(probe.members[0], probe.members[1]).second);
    }
  }
  EXPECT_EQ(pairs.size(), 12u);
  // All; each machine's; one a machine. All are of one type: no set of its own.
  const std::set<std::vector<int>> sets = {{0, 1, 2, 3}, {0, 1}, {2, 3}, {0, 2}};
  for (const Collective kind :
       {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter})
    EXPECT_EQ(sets_in(job, kind), sets);
  // One pair inside a machine and one between machines come first.
  EXPECT_FALSE(job.probes[0].collective || job.probes[1].collective);
  EXPECT_TRUE(job.probes[2].collective.has_value());
}

TEST(MeasureJob, HasNoCommunicationOfOneDeviceAndEndsOnManyDevices) {
  EXPECT_TRUE(small_job(1).probes.empty());
  const MeasureJob many = make_measure_job(*toy::cluster(64, 8), "many", {}, {});
  std::map<int, int> seen;
  std::size_t pairs = 0;
  for (const Probe& probe : many.probes) {
    if (probe.collective) continue;
    ++pairs;
    ++seen[probe.members[0]];
  }
  EXPECT_LE(pairs, 4098u);
  EXPECT_EQ(seen.size(), 512u);
}

TEST(MeasureJob, IsLoadedAsItWasStaged) {
  const TemporaryFolder at;
  MeasureJob job = small_job();
  job.options.engine = "replay";
  job.options.seed = ~std::uint64_t{0};
  job.options.budget = std::chrono::milliseconds(1234);
  job.options.largest = Bytes(4096);
  EXPECT_FALSE(is_measure_job(at / "job"));
  stage_measure_job(at / "job", job);
  EXPECT_TRUE(is_measure_job(at / "job"));
  std::set<std::string> secrets, digests;
  for (int rank = 0; rank < 3; ++rank) {
    const StagedMeasureJob loaded = load_measure_job(at / "job", rank);
    EXPECT_EQ(loaded.job.name, job.name);
    EXPECT_EQ(loaded.job.options.engine, "replay");
    EXPECT_EQ(loaded.job.options.seed, ~std::uint64_t{0});
    EXPECT_EQ(loaded.job.options.budget, job.options.budget);
    EXPECT_EQ(loaded.job.options.largest, Bytes(4096));
    ASSERT_EQ(loaded.job.graphs.size(), 2u);
    EXPECT_EQ(loaded.job.graphs[1]->digest(), job.graphs[1]->digest());
    ASSERT_EQ(loaded.job.probes.size(), job.probes.size());
    for (std::size_t i = 0; i < job.probes.size(); ++i) {
      EXPECT_EQ(loaded.job.probes[i].members, job.probes[i].members);
      EXPECT_EQ(loaded.job.probes[i].collective, job.probes[i].collective);
    }
    secrets.insert(loaded.secret);
    digests.insert(loaded.digest);
  }
  EXPECT_EQ(secrets.size(), 1u);
  EXPECT_EQ(digests.size(), 1u);
  EXPECT_EQ(secrets.begin()->size(), 64u);
}

// Either kind of job may follow the other in one folder.
TEST(MeasureJob, TakesTheFolderOfAnotherJob) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  const std::string secret = load_rank(at / "job", 0).secret;
  stage_measure_job(at / "job", small_job());
  write_measure_result(at / "job", {});
  EXPECT_NE(load_measure_job(at / "job", 0).secret, secret);
  EXPECT_FALSE(fs::exists(at / "job" / "job.json"));
  EXPECT_FALSE(fs::exists(at / "job" / "rank-0.bin"));
  stage_job(at / "job", toy::job());
  EXPECT_FALSE(is_measure_job(at / "job"));
  EXPECT_FALSE(fs::exists(at / "job" / "graph-0.bin"));
  EXPECT_FALSE(fs::exists(at / "job" / "profile.json"));
  EXPECT_EQ(load_rank(at / "job", 0).ranks, 3);
  fs::create_directory(at / "mine");
  write_file(at / "mine" / "thesis.txt", "years of work");
  EXPECT_NE(message_of([&] { stage_measure_job(at / "mine", small_job()); }).find("no job's"),
            std::string::npos);
  EXPECT_EQ(read_file(at / "mine" / "thesis.txt"), "years of work");
}

// A worker looks for a discovery first: none may be left beside another job, nor the other way
// round.
TEST(Discovery, TakesTheFolderOfAnotherJobAndGivesItBack) {
  const TemporaryFolder at;
  const fs::path folder = at / "job";
  stage_job(folder, toy::job());
  for (const char* data : {"weights", "inputs", "checkpoint-5"}) {
    fs::create_directory(folder / data);
    write_file(folder / data / "0.npy", "values");
  }
  stage_discovery(folder, {2, std::chrono::seconds(5)});
  EXPECT_TRUE(is_discovery(folder));
  for (const char* gone : {"job.json", "secret", "rank-0.bin", "weights", "inputs"})
    EXPECT_FALSE(fs::exists(folder / gone)) << gone;
  EXPECT_TRUE(fs::exists(folder / "checkpoint-5" / "0.npy"));
  write_report(folder, 1, {});
  stage_discovery(folder, {1, std::chrono::seconds(5)});
  EXPECT_FALSE(fs::exists(folder / "machine-1.json"));
  write_report(folder, 0, {});
  stage_measure_job(folder, small_job());
  EXPECT_FALSE(is_discovery(folder));
  EXPECT_FALSE(fs::exists(folder / "machine-0.json"));
}

TEST(Discovery, RefusesFoldersOfOthers) {
  const TemporaryFolder at;
  const auto said = [&](const char* name) {
    return message_of([&] { stage_discovery(at / name, {1, std::chrono::seconds(5)}); });
  };
  fs::create_directory(at / "mine");
  write_file(at / "mine" / "result.json", "years of work");
  EXPECT_NE(said("mine").find("no job's"), std::string::npos) << said("mine");
  EXPECT_EQ(read_file(at / "mine" / "result.json"), "years of work");
  fs::create_directory(at / "open");
  fs::permissions(at / "open", fs::perms::others_write, fs::perm_options::add);
  EXPECT_NE(said("open").find("may be written by everybody"), std::string::npos) << said("open");
}

TEST(MeasureJob, RefusesWhatNoWorkerCanMeasure) {
  const TemporaryFolder at;
  const auto says = [&](const char* word, const std::function<void(MeasureJob&)>& change) {
    MeasureJob job = small_job();
    change(job);
    const std::string text = message_of([&] { stage_measure_job(at / "job", job); });
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_FALSE(fs::exists(at / "job"));
  };
  says("options.engine", [](MeasureJob& job) { job.options.engine = "../evil"; });
  says("options.transport", [](MeasureJob& job) { job.options.transport = ""; });
  says("options.budget", [](MeasureJob& job) { job.options.budget = {}; });
  says("options.repetitions", [](MeasureJob& job) { job.options.repetitions = 0; });
  says("options.largest", [](MeasureJob& job) { job.options.largest = job.options.smallest; });
  says("options.largest", [](MeasureJob& job) { job.options.smallest = Bytes(0); });
  says("options.timeout", [](MeasureJob& job) { job.options.timeout = {}; });
  says("ranks: is empty", [](MeasureJob& job) { job.ranks.clear(); });
  says("nothing to measure", [](MeasureJob& job) {
    job.graphs.clear();
    job.probes.clear();
  });
  says("probes[0]: names a rank", [](MeasureJob& job) { job.probes[0].members = {0, 3}; });
  says("probes[0]: names a rank", [](MeasureJob& job) { job.probes[0].members = {-1, 0}; });
  says("probes[0]: has fewer", [](MeasureJob& job) { job.probes[0].members = {0}; });
  says("probes[0]: is not between", [](MeasureJob& job) { job.probes[0].members = {1, 1}; });
  says("probes[1]: does not name", [](MeasureJob& job) {
    job.probes[1] = {Collective::AllReduce, {1, 0}};
  });
  says("probes[1]: is of a kind", [](MeasureJob& job) {
    job.probes[1] = {Collective::Broadcast, {0, 1}};
  });
}

TEST(MeasureJob, IsRefusedWhenAnyFileIsCutOrDamaged) {
  const TemporaryFolder at;
  stage_measure_job(at / "job", small_job());
  for (const char* name : {"graph-1.bin", "secret", "measure.json"}) {
    SCOPED_TRACE(name);
    const fs::path file = at / "job" / name;
    const std::string whole = read_file(file);
    for (std::size_t size = 0; size + 1 < whole.size(); size += 1 + whole.size() / 40) {
      write_file(file, whole.substr(0, size));
      EXPECT_NE(refused(at / "job").find(name), std::string::npos) << refused(at / "job");
    }
    fs::remove(file);
    EXPECT_NE(refused(at / "job").find(name), std::string::npos);
    write_file(file, whole);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);  // a secret's
    EXPECT_EQ(refused(at / "job"), "no error");
  }
  EXPECT_NE(refused(at / "job", 3).find("no rank 3 of 3"), std::string::npos);
  EXPECT_NE(refused(at / "job", -1).find("no rank -1 of 3"), std::string::npos);
}

TEST(MeasureJob, RefusesForgedDescriptions) {
  const TemporaryFolder at;
  stage_measure_job(at / "job", small_job());
  const fs::path file = at / "job" / "measure.json";
  const Json whole = Json::parse(read_file(file));
  const auto says = [&](const char* word, const std::function<void(Json&)>& change) {
    Json json = whole;
    change(json);
    write_file(file, json.dump());
    EXPECT_NE(refused(at / "job").find(word), std::string::npos) << refused(at / "job");
  };
  says("version", [](Json& json) { json["version"] = MeasureJob::kVersion + 1; });
  says("format", [](Json& json) { json["format"] = "stratoscope-job"; });
  says("script", [](Json& json) { json["script"] = "rm"; });
  says("command", [](Json& json) { json["options"]["command"] = "rm"; });
  says("engine", [](Json& json) { json["options"]["engine"] = "/tmp/evil"; });
  says("budget", [](Json& json) { json["options"]["budget_ms"] = -1; });
  says("seed", [](Json& json) { json["options"]["seed"] = "1"; });
  says("bytes", [](Json& json) { json["graphs"][0]["bytes"] = std::int64_t{1} << 60; });
  says("understood otherwise",
       [](Json& json) { json["graphs"][0]["graph"] = std::string(32, '0'); });
  says("kind", [](Json& json) { json["probes"][0]["kind"] = "broadcast"; });
  says("members", [](Json& json) { json["probes"][0]["members"] = {0, 1e30}; });
  says("probes[0]", [](Json& json) { json["probes"][0]["members"] = {0, 99}; });
}

TEST(MeasureJob, EventsSurviveTheirLine) {
  const MeasureEvent event{"v100:0 -> \"v100:1\"\n", 3, 40, std::chrono::milliseconds(12'345)};
  const std::string line = to_json_line(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = parse_measure_event(line);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->what, event.what);
  EXPECT_EQ(read->done, 3);
  EXPECT_EQ(read->of, 40);
  EXPECT_EQ(read->left, event.left);
  EXPECT_FALSE(parse_event(line).has_value());
  EXPECT_FALSE(parse_measure_event(to_json_line(JobEvent())).has_value());
  for (std::size_t size = 0; size < line.size(); ++size)
    EXPECT_FALSE(parse_measure_event(line.substr(0, size)).has_value());
  for (const char* bad :
       {"", "[]", "{}", R"({"event": "measuring"})",
        R"({"event": "measuring", "what": "x", "done": 5, "of": 4, "left_ms": 1})",
        R"({"event": "measuring", "what": 1, "done": 1, "of": 4, "left_ms": 1})",
        R"({"event": "measuring", "what": "x", "done": 1, "of": 4, "left_ms": -1})"})
    EXPECT_FALSE(parse_measure_event(bad).has_value()) << bad;
}

TEST(MeasureJob, ResultsAreReadAsTheyWereWritten) {
  const TemporaryFolder at;
  MeasureResult result;
  result.seconds = 1.5;
  result.notes = {"one pair is missing", "another, too"};
  result.profile.transfers = {
      {"a", "b", {{Bytes(1024), Nanos(10), {}, 1}, {Bytes(2048), Nanos(20), {}, 1}}}};
  write_measure_result(at.path(), result);
  const MeasureResult read = read_measure_result(at.path());
  EXPECT_EQ(read.notes, result.notes);
  EXPECT_EQ(read.seconds, 1.5);
  EXPECT_EQ(read.profile.digest(), result.profile.digest());
  write_file(at / "measured.json", "{");
  EXPECT_NE(message_of([&] { read_measure_result(at.path()); }).find("measured.json"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
