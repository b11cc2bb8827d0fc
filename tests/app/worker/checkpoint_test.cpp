#include "app/worker/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <numeric>

#include "core/base/error.h"
#include "core/data/npy.h"
#include "core/data/tensor_folder.h"
#include "core/io/file.h"
#include "tests/app/worker/fakes.h"
#include "tests/app/worker/hand_program.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato::worker {
namespace {

const Shape kStoredShape = {2, 6};

struct Holder {
  Holder(std::shared_ptr<const Graph> of, const HandProgram& hand, Hub& hub)
      : graph(std::move(of)),
        program(hand.program()),
        execution(*graph, program),
        transport(hub, program.rank) {}
  CheckpointRank rank(const TemporaryFolder& folder, int ranks) {
    return {folder.path(), *graph, program, execution, program.rank, ranks};
  }
  void save(const TemporaryFolder& folder, int ranks) {
    save_checkpoint(rank(folder, ranks), 3, [&] { transport.barrier(); });
  }
  void fill(std::size_t value, float first) {
    for (float& each : execution.floats(value)) each = first++;
  }

  std::shared_ptr<const Graph> graph;
  RankProgram program;
  FakeExecution execution;
  FakeTransport transport;
};

HandProgram with_columns(int rank, std::int32_t begin, std::int32_t end) {
  HandProgram hand(rank, 2);
  hand.part(1, Part::slice(1, begin, end));
  return hand;
}

// Tensor 0 is whole on both ranks, tensor 1 in columns; then one rank takes all of it.
TEST(Checkpoint, SlicesOfRanksBecomeWholeAndAnotherPlanResumes) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  Hub hub(2);
  Holder a(graph, with_columns(0, 0, 2), hub), b(graph, with_columns(1, 2, 6), hub);
  a.fill(0, 1);
  b.fill(0, 1);
  a.fill(1, 100);
  b.fill(1, 200);
  auto other = std::async(std::launch::async, [&] { b.save(folder, 2); });
  a.save(folder, 2);
  other.get();
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint-3/rank-0.bin"));

  Hub alone(1);
  Holder whole(graph, HandProgram(0, 2), alone);
  EXPECT_EQ(resume_checkpoint(whole.rank(folder, 1), "checkpoint-3"), 3);
  const std::vector<float> expected = {100, 101, 200, 201, 202, 203, 102, 103, 204, 205, 206, 207};
  const auto values = whole.execution.floats(1);
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), expected);
  EXPECT_EQ(whole.execution.floats(0)[11], 12);

  Holder middle(graph, with_columns(0, 1, 3), alone);
  resume_checkpoint(middle.rank(folder, 1), "checkpoint-3");
  const auto part = middle.execution.floats(1);
  EXPECT_EQ(std::vector<float>(part.begin(), part.end()), (std::vector<float>{101, 200, 103, 204}));
}

HandProgram with_box(int rank) {
  const std::int32_t row = rank / 2, column = rank % 2 * 3;
  HandProgram hand(rank, 2);
  hand.part(1, Part::slice(0, row, row + 1).cut({1, column, column + 3}));
  return hand;
}

// Tensor 1 is divided along both of its axes.
void save_boxes(const std::shared_ptr<const Graph>& graph, const TemporaryFolder& folder,
                int ranks) {
  Hub hub(ranks);
  std::vector<std::unique_ptr<Holder>> holders;
  std::vector<std::future<void>> others;
  for (int rank = 0; rank < ranks; ++rank) {
    holders.push_back(std::make_unique<Holder>(graph, with_box(rank), hub));
    holders.back()->fill(0, 1);
    holders.back()->fill(1, static_cast<float>(100 * (rank + 1)));
  }
  for (int rank = 1; rank < ranks; ++rank)
    others.push_back(std::async(std::launch::async, [&holders, &folder, rank, ranks] {
      holders[static_cast<std::size_t>(rank)]->save(folder, ranks);
    }));
  holders[0]->save(folder, ranks);
  for (std::future<void>& other : others) other.get();
}

TEST(Checkpoint, BoxesOfRanksBecomeWhole) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  save_boxes(graph, folder, 4);
  Hub alone(1);
  Holder whole(graph, HandProgram(0, 2), alone);
  resume_checkpoint(whole.rank(folder, 1), "checkpoint-3");
  const auto values = whole.execution.floats(1);
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{100, 101, 102, 200, 201, 202, 300, 301, 302, 400, 401, 402}));
  Holder columns(graph, with_columns(0, 2, 4), alone);
  resume_checkpoint(columns.rank(folder, 1), "checkpoint-3");
  const auto part = columns.execution.floats(1);
  EXPECT_EQ(std::vector<float>(part.begin(), part.end()), (std::vector<float>{102, 200, 302, 400}));
}

// Along the first axis alone nothing would be missing.
TEST(Checkpoint, ABoxThatIsNowhereIsAnError) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  Hub hub(1);
  HandProgram hand(0, 2);
  hand.part(1, Part::slice(0, 0, 2).cut({1, 0, 3}));
  Holder half(graph, hand, hub);
  half.fill(0, 1);
  half.fill(1, 1);
  const std::string message = message_of([&] { half.save(folder, 1); });
  EXPECT_NE(message.find("no rank holds all of t1"), std::string::npos) << message;
}

// Tensor 2 is made by an op: a gradient that each rank keeps for the next step.
TEST(Checkpoint, WhatIsUnderWayIsEachRanksOwn) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  Hub hub(2);
  const auto keeps = [](int rank, std::int32_t begin, std::int32_t end) {
    HandProgram hand(rank, 3);
    hand.part(2, Part::partial_sum(begin, end));
    return hand;
  };
  Holder a(graph, keeps(0, 0, 3), hub), b(graph, keeps(1, 3, 4), hub);
  for (Holder* each : {&a, &b})
    for (const std::size_t value : {0u, 1u}) each->fill(value, 1);
  a.fill(2, 100);
  b.fill(2, 200);
  auto other = std::async(std::launch::async, [&] { b.save(folder, 2); });
  a.save(folder, 2);
  other.get();
  Hub alone(1);
  const auto resumed = [&](const HandProgram& hand) {
    Holder holder(graph, hand, alone);
    holder.fill(2, -50);
    resume_checkpoint(holder.rank(folder, 1), "checkpoint-3");
    return holder.execution.floats(2)[11];
  };
  EXPECT_EQ(resumed(keeps(0, 0, 3)), 111);
  EXPECT_EQ(resumed(keeps(0, 3, 4)), 211);
  EXPECT_EQ(resumed(keeps(0, 0, 2)), 111) << "what begins there";
  EXPECT_EQ(resumed(keeps(0, 1, 3)), 0) << "another rank has what begins before";
  // It is no weight that another model can take.
  EXPECT_EQ(open_tensor_folder(folder / "checkpoint-3")->tensors().size(), 2u);
}

// A gradient that is kept, by all ranks together: of terms that add up, and of a sum in slices.
struct Kept {
  using Range = std::pair<std::int32_t, std::int32_t>;

  static HandProgram of_term(int rank, const Range& samples) {
    HandProgram hand(rank, 3);
    hand.part(2,
              samples == Range{0, 4} ? Part() : Part::partial_sum(samples.first, samples.second));
    return hand;
  }
  static HandProgram of_sum(int rank, const Range& columns) {  // an update reads it
    HandProgram hand(rank, 3);
    hand.part(2, columns == Range{0, 6} ? Part() : Part::slice(1, columns.first, columns.second));
    hand.update({.reads = {0, 2}});
    return hand;
  }

  void save(const std::vector<HandProgram>& hands, const std::vector<float>& first) {
    Hub hub(static_cast<int>(hands.size()));
    std::vector<std::unique_ptr<Holder>> holders;
    for (std::size_t r = 0; r < hands.size(); ++r) {
      holders.push_back(std::make_unique<Holder>(graph, hands[r], hub));
      for (const std::size_t value : {0u, 1u}) holders[r]->fill(value, 1);
      holders[r]->fill(2, first[r]);
    }
    std::vector<std::future<void>> others;
    for (std::size_t r = 1; r < hands.size(); ++r)
      others.push_back(std::async(std::launch::async, [&, r] {
        holders[r]->save(folder, static_cast<int>(hands.size()));
      }));
    holders[0]->save(folder, static_cast<int>(hands.size()));
    for (auto& other : others) other.get();
  }
  std::vector<float> resumed(const HandProgram& hand) {
    Hub alone(1);
    Holder holder(graph, hand, alone);
    holder.fill(2, -50);
    resume_checkpoint(holder.rank(folder, 1), "checkpoint-3");
    const auto values = holder.execution.floats(2);
    return {values.begin(), values.end()};
  }
  // Of the first elements, which the ranks' terms add up to.
  float total(const std::vector<Range>& shares) {
    float sum = 0;
    int rank = 0;
    for (const Range& share : shares) sum += resumed(of_term(rank++, share))[0];
    return sum;
  }

  std::shared_ptr<const Graph> graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
};

TEST(Checkpoint, OfOtherSharesIsAllThatIsUnderWayTaken) {
  Kept kept;
  kept.save({Kept::of_term(0, {0, 1}), Kept::of_term(1, {1, 3}), Kept::of_term(2, {3, 4})},
            {10, 200, 3000});
  EXPECT_EQ(kept.total({{0, 1}, {1, 3}, {3, 4}}), 3210);
  EXPECT_EQ(kept.total({{0, 2}, {2, 3}, {3, 4}}), 3210) << "one share is as it was";
  EXPECT_EQ(kept.total({{0, 3}, {3, 4}}), 3210);
  EXPECT_EQ(kept.total({{0, 4}}), 3210);
  EXPECT_EQ(kept.total({{0, 1}, {1, 2}, {2, 3}, {3, 4}}), 3210);
  EXPECT_EQ(kept.resumed(Kept::of_term(0, {1, 3})), kept.resumed(Kept::of_term(5, {1, 2})));
  EXPECT_EQ(kept.resumed(Kept::of_term(0, {0, 3}))[11], 10 + 200 + 22) << "elements are added";
  // Of one rank, which had all samples.
  Kept whole;
  whole.save({Kept::of_term(0, {0, 4})}, {7});
  EXPECT_EQ(whole.total({{0, 4}}), 7);
  EXPECT_EQ(whole.total({{0, 3}, {3, 4}}), 7);
  EXPECT_EQ(whole.resumed(Kept::of_sum(0, {0, 6}))[0], 0) << "no term is a sum";
}

TEST(Checkpoint, OfOtherPartsTheSumsUnderWayAreCutAnew) {
  Kept kept;
  kept.save({Kept::of_sum(0, {0, 2}), Kept::of_sum(1, {2, 6})}, {100, 200});
  EXPECT_EQ(kept.resumed(Kept::of_sum(0, {0, 2})), (std::vector<float>{100, 101, 102, 103}));
  EXPECT_EQ(kept.resumed(Kept::of_sum(0, {1, 3})), (std::vector<float>{101, 200, 103, 204}));
  EXPECT_EQ(kept.resumed(Kept::of_sum(0, {0, 6}))[11], 207);
  EXPECT_EQ(kept.total({{0, 4}}), 0) << "no sum is a term";
  EXPECT_EQ(kept.total({{0, 2}, {2, 4}}), 0);
}

TEST(Checkpoint, PartsOfASumAsTheyWereOnceWrittenAreRefused) {
  for (const char* part : {"axis 1 [0,2)", "axes 0,1 [0,1)x[0,2)"}) {
    Kept kept;
    kept.save({Kept::of_sum(0, {0, 2}), Kept::of_sum(1, {2, 6})}, {100, 200});
    const auto file = kept.folder / "checkpoint-3/index.json";
    std::string text = read_file(file);
    const std::string name = kept.graph->tensor(TensorId(2)).name + ", ";
    ASSERT_NE(text.find(name + "whole"), std::string::npos) << text;
    text.replace(text.find(name + "whole"), name.size() + 5, name + part);
    write_file(file, text);
    const std::string message = message_of([&] { kept.resumed(Kept::of_sum(0, {0, 2})); });
    EXPECT_NE(message.find("is a part of a gradient's sum"), std::string::npos) << message;
    EXPECT_EQ(kept.total({{0, 4}}), 0) << "no sum is a term";
  }
}

TEST(Checkpoint, ATensorOfWhichAPartIsNowhereIsAnError) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  Hub hub(1);
  Holder a(graph, with_columns(0, 0, 5), hub);
  a.fill(0, 1);
  a.fill(1, 1);
  const std::string message = message_of([&] { a.save(folder, 1); });
  EXPECT_NE(message.find("no rank holds all of t1"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint-3/index.json"));
}

// Each rank takes its columns of the weights that the job was staged with.
TEST(Checkpoint, WeightsFillWhatARankHolds) {
  const auto graph = graph_of(2, kStoredShape);
  TemporaryFolder folder;
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 1.0F);
  TensorFolderWriter writer(weights_folder(folder.path()));
  const auto write = [&](const PutPart& put) {
    put({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  };
  writer.add({"t0", DataType::F32, kStoredShape}, "parameter", write);
  writer.finish(0);
  Hub hub(1);
  Holder columns(graph, with_columns(0, 1, 3), hub);
  const auto load = [&] { return message_of([&] { load_weights(columns.rank(folder, 1)); }); };
  EXPECT_NE(load().find("has no tensor t1; launch the plan again"), std::string::npos) << load();
  writer.add({"t1", DataType::F32, kStoredShape}, "parameter", write);
  writer.finish(0);
  EXPECT_EQ(load(), "no error");
  const auto part = columns.execution.floats(1);
  EXPECT_EQ(std::vector<float>(part.begin(), part.end()), (std::vector<float>{2, 3, 8, 9}));
  EXPECT_EQ(columns.execution.floats(0)[11], 12);
}

class SavedCheckpoint : public ::testing::Test {
 protected:
  SavedCheckpoint() : hub(1), holder(graph_of(2, kStoredShape), HandProgram(0, 2), hub) {
    holder.fill(0, 1);
    holder.fill(1, 1);
    holder.save(folder, 1);
  }
  std::string resume(const std::string& name = "checkpoint-3") {
    return message_of([&] { resume_checkpoint(holder.rank(folder, 1), name); });
  }
  TemporaryFolder folder;
  Hub hub;
  Holder holder;
};

TEST_F(SavedCheckpoint, IsRefusedWhenItsIndexLeavesTheFolder) {
  const auto file = folder / "checkpoint-3/index.json";
  std::string text = read_file(file);
  text.replace(text.find("0.npy"), 5, "../0.npy");
  write_file(file, text);
  EXPECT_NE(resume().find("is not a file of the checkpoint"), std::string::npos) << resume();
  EXPECT_NE(resume("../other").find("is not a folder inside"), std::string::npos);
  EXPECT_NE(resume("..").find("is not a folder inside"), std::string::npos);
}

TEST_F(SavedCheckpoint, IsRefusedWhenATensorIsCutShortOrOfAnotherShape) {
  const auto file = folder / "checkpoint-3/1.npy";
  const std::string content = read_file(file);
  write_file(file, content.substr(0, content.size() - 1));
  EXPECT_NE(resume().find("is not whole"), std::string::npos) << resume();
  write_file(file, npy_header(DataType::F32, {6, 2}) + content.substr(content.size() - 48));
  EXPECT_NE(resume().find("another type or shape"), std::string::npos) << resume();
}

TEST_F(SavedCheckpoint, IsRefusedWithoutItsIndex) {
  std::filesystem::remove(folder / "checkpoint-3/index.json");
  EXPECT_NE(resume(), "no error");
}

TEST(Npy, HeaderIsAlignedAndNamesTypeAndShape) {
  const std::string header = npy_header(DataType::F32, {3, 4});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(1, 5), "NUMPY");
  EXPECT_NE(header.find("{'descr': '<f4', 'fortran_order': False, 'shape': (3,4,), }"),
            std::string::npos);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(npy_header(DataType::I64, {}).find("'shape': ()"), std::string::npos);
}

}  // namespace
}  // namespace strato::worker
