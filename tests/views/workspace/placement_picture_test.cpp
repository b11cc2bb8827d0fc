#include "views/workspace/placement_picture.h"

#include <gtest/gtest.h>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/strategy/file/named_strategy.h"
#include "tests/views/models/fixture.h"

namespace strato {
namespace {

class PlacementPicture : public ::testing::Test {
 protected:
  static NamedGroup on(std::vector<std::pair<std::string, std::int32_t>> devices) {
    NamedGroup group;
    group.mode = Mode::ReplicateAllReduce;
    group.devices = std::move(devices);
    return group;
  }
  QColor at(const NamedStrategy& strategy, int x, int y, QSize size = {8, 8}) {
    return placement_picture(strategy, cluster_, size, false).pixelColor(x, y);
  }

  const Cluster cluster_ =
      read_cluster(sample("clusters/tag-2x1080ti.json"), GpuCatalogue::bundled());
  const std::string first_ = cluster_.device(DeviceId(0)).name,
                    second_ = cluster_.device(DeviceId(1)).name;
};

TEST_F(PlacementPicture, ShowsWhoRunsWhat) {
  ASSERT_EQ(cluster_.device_count(), 2u);
  NamedStrategy strategy;
  strategy.groups = {on({{first_, 1}}), on({{first_, 1}, {second_, 4}})};
  const QColor ground = at(strategy, 0, 5);
  EXPECT_NE(at(strategy, 0, 0), ground);
  EXPECT_NE(at(strategy, 5, 0), ground);
  EXPECT_NE(at(strategy, 5, 0), at(strategy, 0, 0));  // a small share is paler
  EXPECT_NE(at(strategy, 5, 5), ground);
}

TEST_F(PlacementPicture, HoldsOutWithAnything) {
  EXPECT_TRUE(placement_picture({}, cluster_, {}, false).isNull());
  EXPECT_TRUE(placement_picture({}, cluster_, {0, 5}, false).isNull());
  EXPECT_EQ(placement_picture({}, cluster_, {1, 1}, true).size(), QSize(1, 1));
  NamedStrategy strange;
  strange.groups = {on({{"nobody", 1}}), on({{first_, 0}}), on({{first_, -3}}), NamedGroup{},
                    on({{second_, 2'000'000'000}})};
  for (const QSize size : {QSize(1, 1), QSize(3, 1), QSize(240, 64), QSize(5, 1000)})
    EXPECT_EQ(placement_picture(strange, cluster_, size, false).size(), size);
}

// Many more groups than pixels: none is lost where a pixel shows any.
TEST_F(PlacementPicture, OfManyGroupsShowsTheOneThatIsElsewhere) {
  NamedStrategy strategy;
  strategy.groups.assign(50'000, on({{first_, 1}}));
  strategy.groups[40'000] = on({{second_, 1}});
  const QImage picture = placement_picture(strategy, cluster_, {24, 12}, false);
  int other = 0;
  for (int x = 0; x < 24; ++x)
    other += picture.pixelColor(x, 8) != picture.pixelColor(0, 8) ? 1 : 0;
  EXPECT_EQ(other, 1);
}

}  // namespace
}  // namespace strato
