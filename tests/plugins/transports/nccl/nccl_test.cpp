// Of the NCCL transport what can be tested without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "core/plugin/load/plugin_registry.h"
#include "plugins/transports/nccl/connections.h"
#include "tests/message_of.h"
#include "tests/paths.h"

namespace strato {
namespace {

using namespace nccl_transport;

// Both sides of a pair have to make its channel in the same round, or the job hangs.
TEST(NcclSchedule, EveryPairMeetsOnceAndBothKnow) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < round_count(ranks); ++round) {
      for (int rank = 0; rank < ranks; ++rank) {
        const int partner = partner_in(round, rank, ranks);
        if (partner < 0) continue;
        ASSERT_LT(partner, ranks);
        ASSERT_NE(partner, rank) << ranks << " ranks, round " << round;
        ASSERT_EQ(partner_in(round, partner, ranks), rank) << ranks << " ranks, round " << round;
        EXPECT_TRUE(met.insert({rank, partner}).second) << "they met before";
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(ranks * (ranks - 1)));
  }
}

TEST(NcclSchedule, AllChannelsFitOnHalfOfTheGpu) {
  for (const int multiprocessors : {40, 80, 108, 132}) {
    for (int ranks = 2; ranks <= 8; ++ranks) {
      const int blocks = blocks_of_channel(ranks, multiprocessors);
      EXPECT_GE(blocks, 1);
      EXPECT_LE(blocks * 2 * (ranks - 1), multiprocessors / 2);
    }
  }
  EXPECT_EQ(blocks_of_channel(512, 132), 1);
  EXPECT_EQ(blocks_of_channel(1, 132), 16);
}

TEST(NcclSchedule, TheInterfaceOfAnAddress) {
  EXPECT_EQ(interface_with("127.0.0.1"), "lo");
  EXPECT_EQ(interface_with("192.0.2.77"), "");
  EXPECT_EQ(interface_with(""), "");
}

TEST(NcclTypes, OnesThatCanBeSummedAreNamed) {
  EXPECT_EQ(sum_type_of(DataType::F16), ncclFloat16);
  EXPECT_EQ(sum_type_of(DataType::BF16), ncclBfloat16);
  EXPECT_EQ(sum_type_of(DataType::F32), ncclFloat32);
  EXPECT_EQ(sum_type_of(DataType::F64), ncclFloat64);
  EXPECT_EQ(sum_type_of(DataType::I32), ncclInt32);
  EXPECT_EQ(sum_type_of(DataType::I64), ncclInt64);
  for (const DataType type : {DataType::Bool, DataType::I16})
    EXPECT_NE(message_of([&] { sum_type_of(type); }).find("NCCL does not add"), std::string::npos);
}

TEST(NcclTransport, SaysThatThereIsNoGpuBeforeItWaitsForOthers) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);  // nor on a machine that has one
  const PluginRegistry shipped({std::string(kBuildFolder) + "/plugins"});
  Meeting meeting;
  meeting.ranks = 2;
  const std::string message = message_of([&] { shipped.transport("nccl", meeting); });
  EXPECT_NE(message.find("rank 0 of 2: the GPU cannot be used"), std::string::npos) << message;
}

TEST(NcclTransport, AJobOfOneRankNeedsNoGpu) {
  const PluginRegistry shipped({std::string(kBuildFolder) + "/plugins"});
  const auto transport = shipped.transport("nccl", {});
  transport->barrier();
  EXPECT_EQ(transport->gather("alone"), std::vector<std::string>{"alone"});
}

}  // namespace
}  // namespace strato
