// Texts told apart by content; instances of GPUs; what rocm-smi prints.

#include "core/cluster/read/machine_text.h"

#include <gtest/gtest.h>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/mig_slice.h"
#include "core/cluster/spec/cluster_spec.h"
#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

Cluster read_text(const std::string& text, const char* name = "box.conf") {
  const TemporaryFolder folder;
  write_file(folder / name, text);
  return read_cluster(folder / name, GpuCatalogue::bundled());
}
std::string text_refusal(const std::string& text) {
  return message_of([&] { read_text(text); });
}
void expect_text(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

const char* const kSplit =
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
    "  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n"
    "  MIG 2g.10gb     Device  1: (UUID: MIG-2)\n"
    "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"
    "  MIG 1g.5gb+me   Device  0: (UUID: MIG-3)\n";

TEST(MachineText, InstancesOfAGpuAreDevicesOfTheirOwn) {
  const Cluster cluster = read_text(kSplit);
  ASSERT_EQ(cluster.device_count(), 3u);
  const GpuType& half = cluster.gpu(DeviceId(0));
  EXPECT_EQ(half.name, "A100-SXM4-40GB MIG 3g.20gb");
  EXPECT_EQ(half.memory, Bytes(std::int64_t{20} << 30));
  EXPECT_DOUBLE_EQ(half.memory_bandwidth, 1555e9 * 4 / 8);
  EXPECT_DOUBLE_EQ(half.peak_flops[static_cast<std::size_t>(Precision::Bf16)], 312e12 * 3 / 7);
  EXPECT_DOUBLE_EQ(cluster.gpu(DeviceId(2)).memory_bandwidth, 1555e9 / 8);
  // Over PCIe, of which two of them share one GPU's.
  EXPECT_NEAR(cluster.path(DeviceId(0), DeviceId(2)).bandwidth / 1e9, 0.8 * 8 * 1.969, 1e-6);
}

TEST(MachineText, AGpusMatrixLosesItsNvlinksWhereOneIsSplit) {
  const Cluster cluster = read_text(
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0\nGPU1\tNV12\t X \t0\n" + std::string(kSplit));
  EXPECT_EQ(cluster.device_count(), 3u);
  EXPECT_LT(cluster.path(DeviceId(0), DeviceId(2)).bandwidth / 1e9, 32);
}

TEST(MachineText, AListIsEnoughWhereNothingIsJoined) {
  EXPECT_EQ(read_text("GPU 0: NVIDIA L4 (UUID: GPU-1)\n").gpu(DeviceId(0)).name, "L4");
  expect_text(text_refusal("GPU 0: NVIDIA L4 (UUID: GPU-1)\nGPU 1: NVIDIA L4 (UUID: GPU-2)\n"),
              "append what nvidia-smi topo -m prints");
}

TEST(MachineText, AListOfNothingIsRefused) {
  expect_text(text_refusal("GPU x: NVIDIA L4 (UUID: GPU-1)\n"), "lists no GPU");
}

TEST(MachineText, InstancesThatCannotBeAreRefused) {
  const auto split = [](const std::string& profile) {
    return text_refusal("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG " + profile +
                        " Device 0: (UUID: MIG-1)\n");
  };
  EXPECT_EQ(split("7g.40gb"), "no error");
  expect_text(split("8g.40gb"), "has no instance 8g.40gb");
  expect_text(split("1g.80gb"), "has no instance 1g.80gb");
  expect_text(split("1c.3g.20gb"), "compute instance");
  expect_text(split("-1g.5gb"), "is no instance of a GPU");
  EXPECT_FALSE(mig_slice_from(""));
  EXPECT_EQ(mig_slice_from("1g.5gb+me")->gigabytes, 5);
}

const char* const kRocm =
    "======== ROCm System Management Interface ========\n"
    "==== Weight between two GPUs ====\n       GPU0         GPU1         \n"
    "GPU0   0            15           \nGPU1   15           0            \n\n"
    "==== Link Type between two GPUs ====\n       GPU0         GPU1         \n"
    "GPU0   0            XGMI         \nGPU1   XGMI         0            \n\n"
    "==== Numa Nodes ====\nGPU[0]\t\t: (Topology) Numa Node: 0\n";

TEST(MachineText, RocmSmiTellsXgmiLinks) {
  const std::string product = "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\n";
  expect_text(text_refusal(kRocm), "append what rocm-smi --showproductname prints");
  expect_text(text_refusal(kRocm + product), "GPU1: nothing says which GPU it is");
  const Cluster cluster = read_text(kRocm + product + "GPU[1]\t\t: Card Model: \t\t0x74a1\n");
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "MI300X");
  EXPECT_EQ(cluster.gpu(DeviceId(1)).name, "MI300X");
  EXPECT_DOUBLE_EQ(cluster.path(DeviceId(0), DeviceId(1)).bandwidth / 1e9, 64);
  EXPECT_EQ(read_text(std::string(kRocm) + "gpu: MI210\n").gpu(DeviceId(1)).name, "MI210");
  std::string cut = kRocm;
  cut.erase(cut.find("GPU1   XGMI"));
  expect_text(text_refusal(cut + "gpu: MI210\n"), "has a matrix that is not whole");
}

TEST(MachineText, OtherTextsSayWhatTheyAreAndWhatToGive) {
  expect_text(text_refusal("3b:00.0 3D controller: NVIDIA Corporation Device 2330\n"),
              "is what lspci prints");
  expect_text(text_refusal("- topology: a\n  tree:\n"), "Slurm's topology.yaml");
  expect_text(text_refusal("| NVIDIA-SMI 550.54 |\n"), "is the table of nvidia-smi");
  expect_text(text_refusal("GPU[0] : Card Series: x\n"), "without the links between GPUs");
  expect_text(text_refusal("hello\n"), "describes no cluster");
  expect_text(text_refusal(""), "is empty");
  expect_text(text_refusal("hello\n"), "NCCL_TOPO_DUMP_FILE");
}

TEST(MachineText, ContentTellsWhatItIs) {
  EXPECT_TRUE(describes_machines(kSplit));
  EXPECT_TRUE(describes_machines("<system/>"));
  EXPECT_TRUE(describes_machines("SwitchName=s Nodes=n1\n"));
  EXPECT_TRUE(describes_machines(kRocm));
  for (const char* other : {"", "{}", "[]", "model:\n  - a\n", "--tensor-model-parallel-size 2"})
    EXPECT_FALSE(describes_machines(other)) << other;
}

TEST(MachineText, AFilesNameDoesNotMakeItACluster) {
  const TemporaryFolder folder;
  const auto is_cluster = [&](const char* name, const std::string& text) {
    write_file(folder / name, text);
    return is_cluster_text(folder / name);
  };
  for (const char* name : {"a.txt", "a.conf", "a.xml", "a"}) {
    EXPECT_FALSE(is_cluster(name, "it is raining\n")) << name;
    EXPECT_FALSE(is_cluster(name, "")) << name;
    EXPECT_TRUE(is_cluster(name, "NodeName=n1 Gres=gpu:x:8\n")) << name;
    EXPECT_TRUE(is_cluster(name, R"({"format": "stratoscope-cluster", )")) << name;
  }
}

}  // namespace
}  // namespace strato
