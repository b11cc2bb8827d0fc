#include "views/cluster/cluster_view.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <filesystem>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "tests/paths.h"

namespace strato {
namespace {

std::vector<std::shared_ptr<const Cluster>> samples() {
  std::vector<std::shared_ptr<const Cluster>> clusters;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kSourceFolder) +
                                                               "/sample_graphs/clusters")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    clusters.push_back(
        std::make_shared<const Cluster>(read_cluster(file, GpuCatalogue::bundled())));
  }
  return clusters;
}

std::shared_ptr<const Cluster> of_size(int machines, int each) {
  const std::string text = R"({"format":"stratoscope-cluster","version":1,"name":"even",
    "machines":[{"name":"m","count":)" +
                           std::to_string(machines) + R"(,
      "gpus":[{"type":"V100-SXM2-16GB","count":)" +
                           std::to_string(each) + R"(}],
      "fabric":{"kind":"nvlink2","bandwidth_GBps":100,"latency_us":2},
      "nic":{"kind":"100GbE","bandwidth_GBps":12.5,"latency_us":5}}],
    "network":{"latency_us":1}})";
  return std::make_shared<const Cluster>(parse_cluster(text, "even", GpuCatalogue::bundled()));
}

void expect_tidy(const Cluster& cluster, const ClusterLayout& layout) {
  for (std::size_t a = 0; a < layout.machines.size(); ++a) {
    for (std::size_t b = a + 1; b < layout.machines.size(); ++b)
      EXPECT_FALSE(layout.machines[a].intersects(layout.machines[b]));
    for (const QLineF& bus : layout.buses) {
      if (bus.dy() != 0) continue;
      EXPECT_FALSE(layout.machines[a].contains(QPointF(layout.machines[a].center().x(), bus.y1())));
    }
  }
  for (std::size_t a = 0; a < layout.devices.size(); ++a) {
    EXPECT_TRUE(
        layout.machines[cluster.device(DeviceId(a)).machine.index()].contains(layout.devices[a]));
    for (std::size_t b = a + 1; b < layout.devices.size(); ++b)
      EXPECT_FALSE(layout.devices[a].intersects(layout.devices[b]));
  }
  EXPECT_EQ(layout.links.size(), cluster.links().size());
  for (const DrawnLink& link : layout.links) EXPECT_GE(link.line.size(), 2);
}

TEST(ClusterLayout, SamplesAreDrawnWithoutOverlapAndWithEveryLink) {
  for (const auto& cluster : samples()) {
    for (const double width : {300.0, 700.0, 1280.0})
      expect_tidy(*cluster, layout_cluster(*cluster, width));
  }
}

// Each GPU's own network card leads out of its machine, and no wire or figure is on another one.
TEST(ClusterLayout, NetworkCardsOfGpusAreApart) {
  const std::string text = R"({"format":"stratoscope-cluster","version":1,"name":"rails",
    "machines":[{"name":"m","count":2,"gpus":[{"type":"V100-SXM2-16GB","count":16}],
      "fabric":{"kind":"nvlink2","bandwidth_GBps":100,"latency_us":2},
      "host_link":{"kind":"pcie3x16","bandwidth_GBps":12.5,"latency_us":4},
      "nic":{"kind":"16x100G","bandwidth_GBps":200,"latency_us":5}}],
    "network":{"latency_us":1}})";
  const Cluster cluster = parse_cluster(text, "rails", GpuCatalogue::bundled());
  const ClusterLayout layout = layout_cluster(cluster, 1280);
  expect_tidy(cluster, layout);
  std::size_t out = 0;
  for (std::size_t a = 0; a < layout.links.size(); ++a) {
    const DrawnLink& link = layout.links[a];
    const QRectF box = link.line.boundingRect();
    const bool leaves = cluster.links()[link.link].name.ends_with(">net");
    out += leaves;
    EXPECT_TRUE(!leaves || std::ranges::none_of(layout.machines, [&](const QRectF& machine) {
      return machine.contains(link.line.back());
    }));
    for (std::size_t b = a + 1; b < layout.links.size(); ++b) {
      const DrawnLink& other = layout.links[b];
      EXPECT_FALSE(!link.label.isNull() && link.label == other.label);
      EXPECT_GT(std::abs(box.center().x() - other.line.boundingRect().center().x()) +
                    std::abs(box.center().y() - other.line.boundingRect().center().y()),
                2);
    }
  }
  EXPECT_EQ(out, 32u);
}

TEST(ClusterLayout, ScalesToManyMachinesAndDevices) {
  for (const auto& [machines, each] :
       {std::pair(1, 1), {1, 16}, {16, 1}, {16, 4}, {8, 8}, {4, 16}}) {
    const auto cluster = of_size(machines, each);
    expect_tidy(*cluster, layout_cluster(*cluster, 900));
  }
}

TEST(BandwidthModel, ObeysTheModelRules) {
  BandwidthModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (const auto& cluster : samples()) {
    model.show(cluster);
    EXPECT_EQ(model.rowCount(), static_cast<int>(cluster->groups().size()));
  }
  model.show(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(ClusterView, PaintsEmptyAndEverySample) {
  Session session;
  ClusterView view(session);
  view.resize(1000, 500);
  EXPECT_FALSE(view.grab().isNull());
  for (const auto& cluster : samples()) {
    view.show_cluster(cluster, nullptr);
    EXPECT_FALSE(view.grab().toImage().allGray());
  }
}

}  // namespace
}  // namespace strato
