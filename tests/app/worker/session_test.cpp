// What the ranks agree on before anything runs.
#include "app/worker/session.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/io/json.h"
#include "core/launch/job/job.h"
#include "tests/app/worker/fakes.h"
#include "tests/app/worker/hand_program.h"

namespace strato::worker {
namespace {

// Rank 1 greets as rank 0 does, but for one thing.
class TransportWithStranger final : public Transport {
 public:
  TransportWithStranger(std::string key, Json value)
      : key_(std::move(key)), value_(std::move(value)) {}

  std::vector<std::string> gather(const std::string& text) override {
    Json other = Json::parse(text);
    other[key_] = value_;
    return {text, key_.empty() ? "no greeting" : other.dump()};
  }
  void barrier() override { FAIL() << "they do not agree"; }
  std::unique_ptr<Pending> send(int, std::uint32_t, std::span<std::byte>) override {
    return nothing();
  }
  std::unique_ptr<Pending> receive(int, std::uint32_t, std::span<std::byte>) override {
    return nothing();
  }
  std::unique_ptr<Pending> all_reduce(const Members&, std::uint32_t, DataType,
                                      std::vector<std::span<std::byte>>) override {
    return nothing();
  }
  std::unique_ptr<Pending> all_gather(const Members&, std::uint32_t,
                                      std::vector<std::span<std::byte>>) override {
    return nothing();
  }
  std::unique_ptr<Pending> reduce_scatter(const Members&, std::uint32_t, DataType,
                                          std::vector<std::span<std::byte>>) override {
    return nothing();
  }
  std::unique_ptr<Pending> all_to_all(const Members&, std::uint32_t,
                                      std::vector<std::span<std::byte>>,
                                      std::vector<std::span<std::byte>>) override {
    return nothing();
  }

 private:
  static std::unique_ptr<Pending> nothing() {
    ADD_FAILURE() << "they do not agree";
    return nullptr;
  }

  std::string key_;
  Json value_;
};

std::string disagreement(const std::string& key, const Json& value) {
  RankJob job;
  job.ranks = 2;
  job.graph = graph_of(1, {4, 6});
  job.program = HandProgram(0, 1).compute().program();
  job.device_of_rank = {DeviceId(0), DeviceId(1)};
  job.devices = {"a", "b"};
  job.digest = "aaaa";
  FakeExecution execution(*job.graph, job.program);
  TransportWithStranger transport(key, value);
  Events events(-1);
  RankSession session(
      {job, std::filesystem::temp_directory_path(), execution, transport, events, nullptr, "fake"});
  try {
    session.run();
  } catch (const OtherRankFailure& error) {
    EXPECT_EQ(error.rank(), 1);
    EXPECT_TRUE(execution.steps().empty());
    return error.what();
  }
  return "they agree";
}

void expect_starts(const std::string& text, const std::string& start) {
  EXPECT_EQ(text.find(start), 0u) << text;
}

TEST(RankSession, NamesARankThatDoesNotFitBeforeAnythingRuns) {
  expect_starts(disagreement("version", "0.0.9"),
                "has another version of stratoscope-worker: \"0.0.9\"");
  expect_starts(disagreement("version", nullptr),
                "has another version of stratoscope-worker: null");
  expect_starts(disagreement("program", RankProgram::kVersion + 1),
                "has another version of rank programs");
  expect_starts(disagreement("digest", "bbbb"),
                "has another plan: \"bbbb\" instead of rank 0's \"aaaa\"");
  expect_starts(disagreement("", 0), "sends no greeting");
  // It lowered its part of the plan otherwise.
  expect_starts(disagreement("shares", Json::object()), "does not say what it shares");
  const Json transfers = {{"transfers from rank 1 to rank 0", {2, 3, "abcdef0123"}}};
  expect_starts(
      disagreement("shares", {{"by_name", transfers}, {"order", {{0, 3}}}}),
      "has transfers from rank 1 to rank 0, of which only 1 of 2 ranks know; give all ranks");
}

}  // namespace
}  // namespace strato::worker
