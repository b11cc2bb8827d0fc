// The fields of a cluster and its name say the same.
#include "app/explorer/cluster_fields.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include "core/cluster/read/cluster_reader.h"
#include "tests/app/explorer/by_hand.h"

namespace strato {
namespace {

class ClusterFieldsTest : public ::testing::Test {
 protected:
  void SetUp() override { fields_.show(); }
  void write(const char* name) {
    name_->selectAll();
    QTest::keyClicks(name_, QString::fromUtf8(name));
  }
  std::string note() const {
    return fields_.findChild<QLabel*>(QStringLiteral("cluster-note"))->text().toStdString();
  }
  std::string cluster() const { return fields_.cluster().toStdString(); }

  ClusterFields fields_;
  QSpinBox* machines_ = fields_.findChild<QSpinBox*>(QStringLiteral("machines"));
  QSpinBox* gpus_ = fields_.findChild<QSpinBox*>(QStringLiteral("gpus"));
  QComboBox* gpu_ = fields_.findChild<QComboBox*>(QStringLiteral("gpu"));
  QComboBox* network_ = fields_.findChild<QComboBox*>(QStringLiteral("network"));
  QLineEdit* name_ = fields_.findChild<QLineEdit*>(QStringLiteral("cluster-name"));
};

TEST_F(ClusterFieldsTest, MakeANameThatIsACluster) {
  EXPECT_EQ(cluster(), "h100-8x8");
  EXPECT_EQ(fields_.devices(), 64);
  type_over(*machines_, QStringLiteral("4"));
  type_over(*gpus_, QStringLiteral("2"));
  EXPECT_EQ(cluster(), "h100-4x2");
  choose_by_keys(*network_, QStringLiteral("100 Gb/s Ethernet per machine"));
  EXPECT_EQ(name_->text(), QStringLiteral("h100-4x2-100GbE"));
  EXPECT_NE(note().find("8 GPUs H100-SXM5-80GB"), std::string::npos) << note();
  EXPECT_EQ(read_cluster(cluster(), GpuCatalogue::bundled()).device_count(), 8u);
}

TEST_F(ClusterFieldsTest, EveryGpuHasANameThatLeadsBackToIt) {
  for (int i = 0; i < gpu_->count(); ++i) {
    gpu_->setCurrentIndex(i);
    const auto named = equal_machines_from(cluster());
    ASSERT_TRUE(named) << cluster();
    EXPECT_FALSE(named->network) << "the usual one needs no name";
    EXPECT_EQ(GpuCatalogue::bundled().find(named->gpu)->name,
              gpu_->currentData().toString().toStdString());
    EXPECT_EQ(gpu_->currentIndex(), i);
  }
}

TEST_F(ClusterFieldsTest, ANameFillsThem) {
  write("a100-80gb-16x4-25GbE");
  EXPECT_EQ(machines_->value(), 16);
  EXPECT_EQ(gpus_->value(), 4);
  EXPECT_EQ(gpu_->currentData().toString(), QStringLiteral("A100-SXM4-80GB"));
  EXPECT_EQ(network_->currentText(), QStringLiteral("25 Gb/s Ethernet per machine"));
  EXPECT_EQ(name_->text(), QStringLiteral("a100-80gb-16x4-25GbE")) << "as it was written";
  // The network that was wanted stays, the one that is usual follows the GPU.
  gpu_->setCurrentIndex(gpu_->findData(QStringLiteral("H100-SXM5-80GB")));
  EXPECT_EQ(cluster(), "h100-16x4-25GbE");
  write("h100-3x8");
  EXPECT_EQ(network_->currentText(), QStringLiteral("400 Gb/s InfiniBand per GPU"));
  gpu_->setCurrentIndex(gpu_->findData(QStringLiteral("V100-SXM2-16GB")));
  EXPECT_EQ(cluster(), "v100-3x8");
  EXPECT_EQ(network_->currentText(), QStringLiteral("100 Gb/s InfiniBand per GPU"));
}

TEST_F(ClusterFieldsTest, SamplesAndFilesAreClustersToo) {
  write("tag-testbed");
  EXPECT_TRUE(fields_.cluster().endsWith(QStringLiteral("tag-testbed.json")));
  EXPECT_FALSE(fields_.devices());
  write("h100-2x8");  // a sample has this name, which says more of such machines
  EXPECT_TRUE(fields_.cluster().endsWith(QStringLiteral("h100-2x8.json")));
  EXPECT_EQ(machines_->value(), 2);
  EXPECT_EQ(fields_.devices(), 16);
  fields_.set_cluster(sample("clusters/gdp.json"));
  EXPECT_EQ(fields_.cluster(), sample("clusters/gdp.json"));
  type_over(*machines_, QStringLiteral("3"));
  EXPECT_TRUE(cluster().find("-3x") != std::string::npos) << cluster();
}

TEST_F(ClusterFieldsTest, SayWhatIsNoCluster) {
  const auto expect_none = [&](const std::string& why) {
    EXPECT_EQ(cluster(), "");
    EXPECT_NE(note().find(why), std::string::npos) << note();
  };
  type_over(*machines_, QStringLiteral("9000"));
  expect_none("h100-9000x8: has 9000 machines of 8 GPUs; give 16384 GPUs at most in all");
  type_over(*machines_, QStringLiteral("3"));
  EXPECT_EQ(cluster(), "h100-3x8");
  type_over(*gpus_, QStringLiteral("2000"));
  expect_none("of 1 to 1024 GPUs");
  write("h100-0x8");
  expect_none("at least one machine");
  write("abacus-2x8");
  expect_none("\"abacus\" is no GPU that is known");
  write("no such cluster");
  expect_none("No cluster has this name");
  write("/");
  expect_none("No cluster has this name");
  write("99999999999999999999x8");
  expect_none("No cluster has this name");
  name_->clear();
  expect_none("Fill in the fields");
}

TEST_F(ClusterFieldsTest, AScriptsMachinesComeIn) {
  fields_.set_size(16, 4);
  EXPECT_EQ(cluster(), "h100-16x4");
  fields_.set_size({}, 2);
  EXPECT_EQ(cluster(), "h100-16x2");
}

}  // namespace
}  // namespace strato
