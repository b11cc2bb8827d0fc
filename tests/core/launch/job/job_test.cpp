// Staged jobs: what goes in comes out, and whatever is not what was staged is refused.
#include "core/launch/job/job.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/run_files.h"
#include "core/program/rank/rank_file.h"
#include "tests/core/launch/job/staged_job.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

const std::set<std::string> kFiles = {"job.json",   "graph.bin",  "secret",
                                      "rank-0.bin", "rank-1.bin", "rank-2.bin"};

std::string refusal(const fs::path& folder, int rank = 0) {
  return message_of([&] { load_rank(folder, rank); });
}

TEST(Job, IsLoadedAsItWasStaged) {
  const TemporaryFolder at;
  Job job = toy::job();
  job.options.engine = "replay";
  job.options.steps = 7;
  job.options.seed = ~std::uint64_t{0};
  job.options.learning_rate = 0.125;
  job.options.timeout = std::chrono::seconds(90);
  job.options.keep_parameters = true;
  job.options.resume = "checkpoint-5";
  stage_job(at / "job", job);
  EXPECT_EQ(names_in(at / "job"), kFiles);
  EXPECT_EQ(names_in(at.path()), std::set<std::string>{"job"});
  std::set<std::string> secrets;
  for (int r = 0; r < 3; ++r) {
    const RankJob rank = load_rank(at / "job", r);
    EXPECT_EQ(rank.name, job.name);
    EXPECT_EQ(rank.rank, r);
    EXPECT_EQ(rank.ranks, 3);
    EXPECT_EQ(rank.devices, job.devices);
    EXPECT_EQ(rank.device_of_rank[2], job.programs.ranks[2].device);
    EXPECT_EQ(rank.graph->digest(), job.graph->digest());
    EXPECT_EQ(write_rank_program(rank.program),
              write_rank_program(job.programs.ranks[static_cast<std::size_t>(r)]));
    EXPECT_EQ(rank.digest, job.programs.digest().hex());
    EXPECT_EQ(rank.digest, job_digest(job));
    EXPECT_FALSE(rank.plan.has_value());
    EXPECT_EQ(rank.options.engine, "replay");
    EXPECT_EQ(rank.options.steps, 7);
    EXPECT_EQ(rank.options.seed, ~std::uint64_t{0});
    EXPECT_EQ(rank.options.learning_rate, 0.125);
    EXPECT_EQ(rank.options.timeout, std::chrono::seconds(90));
    EXPECT_TRUE(rank.options.keep_parameters);
    EXPECT_EQ(rank.options.resume, "checkpoint-5");
    secrets.insert(rank.secret);
  }
  ASSERT_EQ(secrets.size(), 1u);
  EXPECT_EQ(secrets.begin()->size(), 64u);
}

TEST(Job, KeepsItsSecret) {
  const TemporaryFolder at;
  std::set<std::string> secrets;
  for (const char* name : {"a", "b"}) {
    stage_job(at / name, toy::job());
    struct stat status {};
    ASSERT_EQ(::stat((at / name / "secret").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    secrets.insert(load_rank(at / name, 0).secret);
    for (const char* file : {"job.json", "graph.bin", "rank-0.bin"})
      EXPECT_EQ(read_file(at / name / file).find(*secrets.rbegin()), std::string::npos);
  }
  EXPECT_EQ(secrets.size(), 2u);
}

TEST(Job, IsForItsOwnerAlone) {
  const TemporaryFolder at;
  const fs::path folder = at / "job";
  stage_job(folder, toy::job());
  const auto may_others = [&](const fs::path& path, fs::perms what) {
    fs::permissions(path, what, fs::perm_options::add);
    const std::string staged = message_of([&] { stage_job(folder, toy::job()); });
    const std::string loaded = refusal(folder);
    fs::permissions(path, what, fs::perm_options::remove);
    return std::pair(staged, loaded);
  };
  const auto [staged, loaded] = may_others(folder, fs::perms::others_write);
  EXPECT_NE(staged.find("may be written by everybody"), std::string::npos) << staged;
  EXPECT_NE(loaded.find("may be written by everybody"), std::string::npos) << loaded;
  EXPECT_EQ(may_others(folder, fs::perms::group_write),
            std::pair(std::string("no error"), std::string("no error")));
  for (const fs::perms readers :
       {fs::perms::group_read, fs::perms::others_read, fs::perms::others_write}) {
    stage_job(folder, toy::job());
    fs::permissions(folder / "secret", readers, fs::perm_options::add);
    EXPECT_NE(refusal(folder).find("is not for its owner alone"), std::string::npos)
        << refusal(folder);
  }
}

// A link of that name that leads out of the folder is neither followed nor emptied.
TEST(Job, FilesAreNotWrittenThroughLinks) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  write_file(at / "mine", "kept");
  for (const char* name : {"graph.bin", "rank-0.bin", "job.json", "meeting.json", "failure.json"}) {
    fs::remove(at / "job" / name);
    fs::create_symlink(at / "mine", at / "job" / name);
  }
  record_failure(at / "job", {1, "cause"});
  write_meeting(at / "job", {"127.0.0.1", 1});
  stage_job(at / "job", toy::job());
  EXPECT_EQ(read_file(at / "mine"), "kept");
  for (const char* name : {"graph.bin", "rank-0.bin", "job.json"})
    EXPECT_FALSE(fs::is_symlink(at / "job" / name)) << name;
  EXPECT_EQ(refusal(at / "job"), "no error");
}

// An earlier secret that everybody can read, or that leads elsewhere, is replaced.
TEST(Job, StagedAgainHasANewSecretAndKeepsCheckpoints) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  const std::string before = load_rank(at / "job", 0).secret;
  fs::create_directory(at / "job" / "checkpoint-5");
  write_file(at / "job" / "checkpoint-5" / "w.npy", "weights");
  write_file(at / "job" / "log-0.txt", "old");
  write_file(at / "job" / "result.json", "{}");
  record_failure(at / "job", {1, "old"});
  write_file(at / "elsewhere", "mine");
  fs::remove(at / "job" / "secret");
  fs::create_symlink(at / "elsewhere", at / "job" / "secret");
  stage_job(at / "job", toy::job(2));
  EXPECT_EQ(names_in(at / "job"),
            (std::set<std::string>{"job.json", "graph.bin", "secret", "rank-0.bin", "rank-1.bin",
                                   "checkpoint-5"}));
  EXPECT_NE(load_rank(at / "job", 1).secret, before);
  EXPECT_EQ(read_file(at / "elsewhere"), "mine");
  EXPECT_EQ(read_file(at / "job" / "checkpoint-5" / "w.npy"), "weights");
}

TEST(Job, TakesAnEmptyFolderButNoOther) {
  const TemporaryFolder at;
  fs::create_directory(at / "empty");
  stage_job(at / "empty", toy::job());
  EXPECT_EQ(load_rank(at / "empty", 2).rank, 2);
  fs::create_directory(at / "full");
  write_file(at / "full" / "secret", "of something else");
  EXPECT_NE(message_of([&] { stage_job(at / "full", toy::job()); }).find("no job's"),
            std::string::npos);
  EXPECT_EQ(names_in(at / "full"), std::set<std::string>{"secret"});
  write_file(at / "file", "mine");
  EXPECT_THROW(stage_job(at / "file", toy::job()), InputError);
  EXPECT_THROW(stage_job(at / "file" / "below", toy::job()), InputError);
  EXPECT_EQ(read_file(at / "file"), "mine");
  EXPECT_EQ(names_in(at.path()), (std::set<std::string>{"empty", "full", "file"}));
}

TEST(Job, ThatCannotRunIsNotStaged) {
  const TemporaryFolder at;
  const auto refused = [&](const std::function<void(Job&)>& change) {
    Job job = toy::job();
    change(job);
    EXPECT_THROW(stage_job(at / "job", job), InputError);
    EXPECT_TRUE(names_in(at.path()).empty());
  };
  for (const char* name : {"../x", "/etc/passwd", "a/b", "..", "checkpoint-5/..", "a\nb", " "})
    refused([&](Job& job) { job.options.resume = name; });
  refused([](Job& job) { job.options.engine = "../../evil"; });
  refused([](Job& job) { job.options.transport = ""; });
  refused([](Job& job) { job.options.device = "cpu;rm"; });
  refused([](Job& job) { job.options.steps = 0; });
  refused([](Job& job) { job.options.warm_up = -1; });
  refused([](Job& job) { job.options.threads = 0; });
  refused([](Job& job) { job.options.timeout = std::chrono::seconds(0); });
  refused([](Job& job) {  // a collective that one member lacks
    job.programs.ranks[1].instructions.clear();
    job.programs.ranks[1].members.clear();
  });
}

TEST(Job, IsRefusedWhenAnyFileIsDamaged) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  for (const char* name : {"graph.bin", "rank-0.bin", "secret", "job.json"}) {
    SCOPED_TRACE(name);
    const fs::path file = at / "job" / name;
    const std::string whole = read_file(file);
    const std::size_t step = 1 + whole.size() / 40;
    for (std::size_t size = 0; size + 1 < whole.size(); size += step) {
      write_file(file, whole.substr(0, size));
      EXPECT_NE(refusal(at / "job").find(name), std::string::npos) << refusal(at / "job");
    }
    write_file(file, whole + "x");
    EXPECT_NE(refusal(at / "job"), "no error");
    fs::remove(file);
    EXPECT_NE(refusal(at / "job").find(name), std::string::npos);
    write_file(file, whole);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(refusal(at / "job"), "no error");
  }
  for (const char* name : {"graph.bin", "rank-0.bin"}) {
    const fs::path file = at / "job" / name;
    const std::string whole = read_file(file);
    for (std::size_t byte = 0; byte < whole.size(); byte += 1 + whole.size() / 40) {
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ 1);
      write_file(file, flipped);
      EXPECT_NE(refusal(at / "job").find("digest"), std::string::npos);
    }
    write_file(file, whole);
  }
}

// A job whose ranks make their programs themselves.
Job planned_job() {
  Job job = toy::job();
  for (const RankProgram& rank : job.programs.ranks) job.device_ids.push_back(rank.device);
  job.programs = {};
  job.plan = JobPlan{"the plan", "the calibration", "", true, true, strato::digest_of("planned")};
  return job;
}

TEST(Job, OfAPlanTakesItAlong) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());  // its programs go
  stage_job(at / "job", planned_job());
  EXPECT_EQ(names_in(at / "job"), (std::set<std::string>{"job.json", "graph.bin", "secret",
                                                         "job-plan.json", "job-calibration.json"}));
  const RankJob rank = load_rank(at / "job", 2);
  ASSERT_TRUE(rank.plan.has_value());
  EXPECT_EQ(rank.plan->plan, "the plan");
  EXPECT_EQ(rank.plan->calibration, "the calibration");
  EXPECT_EQ(rank.plan->profile, "");
  EXPECT_TRUE(rank.plan->priorities && rank.plan->fair_links);
  EXPECT_EQ(rank.plan->digest, planned_job().plan->digest);
  EXPECT_EQ(rank.device_of_rank, planned_job().device_ids);
  EXPECT_TRUE(rank.program.instructions.empty());
  EXPECT_EQ(rank.digest, job_digest(planned_job()));
  EXPECT_NE(rank.digest, job_digest(toy::job()));
  EXPECT_NE(refusal(at / "job", 3).find("no rank 3 of 3"), std::string::npos);
}

TEST(Job, OfAPlanIsRefusedWhenAFileIsDamaged) {
  const TemporaryFolder at;
  stage_job(at / "job", planned_job());
  for (const char* name : {"job-plan.json", "job-calibration.json"}) {
    const fs::path file = at / "job" / name;
    const std::string whole = read_file(file);
    write_file(file, whole + " ");
    EXPECT_NE(refusal(at / "job").find(name), std::string::npos) << refusal(at / "job");
    std::string flipped = whole;
    flipped[2] = static_cast<char>(flipped[2] ^ 1);
    write_file(file, flipped);
    EXPECT_NE(refusal(at / "job").find("digest"), std::string::npos) << refusal(at / "job");
    fs::remove(file);
    EXPECT_NE(refusal(at / "job").find(name), std::string::npos) << refusal(at / "job");
    write_file(file, whole);
  }
  EXPECT_EQ(refusal(at / "job"), "no error");
  const fs::path file = at / "job" / "job.json";
  const Json whole = Json::parse(read_file(file));
  const auto refused = [&](const char* word, const std::function<void(Json&)>& change) {
    Json json = whole;
    change(json);
    write_file(file, json.dump());
    EXPECT_NE(refusal(at / "job").find(word), std::string::npos) << refusal(at / "job");
  };
  refused("program", [](Json& json) { json.erase("plan"); });
  refused("programs", [](Json& json) { json["plan"]["fair_links"] = false; });
  refused("programs", [](Json& json) { json["plan"]["plan"] = std::string(32, '0'); });
  refused("programs", [](Json& json) { json["ranks"].erase(1); });
  refused("programs", [](Json& json) { std::swap(json["ranks"][0], json["ranks"][1]); });
  refused("file", [](Json& json) { json["plan"]["file"] = "../../etc/passwd"; });
}

TEST(Job, RefusesRanksAndFilesOfOthers) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  stage_job(at / "other", toy::job(2));
  EXPECT_NE(refusal(at / "job", 3).find("no rank 3 of 3"), std::string::npos);
  EXPECT_NE(refusal(at / "job", -1).find("no rank -1 of 3"), std::string::npos);
  EXPECT_NE(refusal(at / "nowhere"), "no error");
  fs::copy_file(at / "job" / "rank-1.bin", at / "job" / "rank-0.bin",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal(at / "job").find("rank-0.bin"), std::string::npos);
}

// Each of these is one change to job.json, checked before another file is touched.
TEST(Job, RefusesForgedDescriptions) {
  const TemporaryFolder at;
  stage_job(at / "job", toy::job());
  const fs::path file = at / "job" / "job.json";
  const Json whole = Json::parse(read_file(file));
  const auto refused = [&](const char* word, const std::function<void(Json&)>& change) {
    Json json = whole;
    change(json);
    write_file(file, json.dump());
    EXPECT_NE(refusal(at / "job").find(word), std::string::npos) << refusal(at / "job");
  };
  refused("version", [](Json& json) { json["version"] = Job::kVersion + 1; });
  refused("format", [](Json& json) { json["format"] = "stratoscope-plan"; });
  refused("ranks", [](Json& json) { json["ranks"] = Json::array(); });
  refused("programs", [](Json& json) { json["ranks"].erase(1); });
  refused("programs", [](Json& json) { std::swap(json["ranks"][0], json["ranks"][1]); });
  refused("programs", [](Json& json) { json["programs"] = "00000000000000000000000000000000"; });
  refused("programs", [](Json& json) { json["graph"]["graph"] = std::string(32, '0'); });
  refused("digest", [](Json& json) { json["graph"]["digest"] = "../../etc/passwd"; });
  refused("bytes", [](Json& json) { json["graph"]["bytes"] = std::int64_t{1} << 60; });
  refused("resume", [](Json& json) { json["options"]["resume"] = "../../../tmp"; });
  refused("engine", [](Json& json) { json["options"]["engine"] = "/tmp/evil"; });
  refused("seed", [](Json& json) { json["options"]["seed"] = -1; });
  refused("steps", [](Json& json) { json["options"]["steps"] = 1e30; });
  refused("threads", [](Json& json) { json["options"]["threads"] = "4"; });
  refused("timeout_s", [](Json& json) { json["options"]["timeout_s"] = std::int64_t{1} << 62; });
  refused("command", [](Json& json) { json["options"]["command"] = "rm"; });
  refused("script", [](Json& json) { json["script"] = "rm"; });
}

}  // namespace
}  // namespace strato
