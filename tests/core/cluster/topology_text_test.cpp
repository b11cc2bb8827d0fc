// What nvidia-smi prints of a machine, as drivers of several years do.

#include <gtest/gtest.h>

#include <random>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

std::string list_of(int count, const std::string& name) {
  std::string text;
  for (int gpu = 0; gpu < count; ++gpu)
    text += "GPU " + std::to_string(gpu) + ": " + name + " (UUID: GPU-0123-" + std::to_string(gpu) +
            ")\n";
  return text;
}

// All pairs are joined alike. As written to a terminal: tabs, a header that is underlined, cards.
std::string matrix_of(int count, const std::string& kind) {
  std::string text = "\t\x1b[4m";
  for (int gpu = 0; gpu < count; ++gpu) text += "GPU" + std::to_string(gpu) + "\t";
  text += "NIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (int row = 0; row < count; ++row) {
    text += "GPU" + std::to_string(row) + "\t";
    for (int column = 0; column < count; ++column) text += (row == column ? " X " : kind) + "\t";
    text += "PXB\t0-63,128-191\t0\t\tN/A\n";
  }
  text += "NIC0\t";
  for (int gpu = 0; gpu < count; ++gpu) text += "PXB\t";
  return text +
         " X \t\t\t\t\n\nLegend:\n\n  X    = Self\n  NV#  = NVLinks\n\nNIC Legend:\n\n"
         "  NIC0: mlx5_0\n\n";
}

// Of 2017, without colours and columns of NUMA nodes: a cube of eight, and two more sockets' names.
const char* const kPairs =
    "        GPU0    GPU1    GPU2    GPU3    mlx5_0  CPU Affinity\r\n"
    "GPU0     X      NV2     SOC     SOC     PHB     0-9,20-29\r\n"
    "GPU1    NV2      X      SOC     SOC     PHB     0-9,20-29\r\n"
    "GPU2    SOC     SOC      X      NV2     SOC     10-19,30-39\r\n"
    "GPU3    SOC     SOC     NV2      X      SOC     10-19,30-39\r\n"
    "mlx5_0  PHB     PHB     SOC     SOC      X\r\n";

Cluster cluster_of(const std::string& text) {
  return parse_cluster(topology_cluster(text, "node7.txt", GpuCatalogue::bundled()), "made",
                       GpuCatalogue::bundled());
}
std::string refusal_of(const std::string& text) {
  return message_of([&] { cluster_of(text); });
}
double bandwidth_of(const Cluster& cluster, std::size_t a, std::size_t b) {
  return cluster.path(DeviceId(a), DeviceId(b)).bandwidth / 1e9;
}

// Each line could begin a table that all others belong to.
TEST(Topology, ManyTablesAreReadOnce) {
  std::string text = matrix_of(2, "NV4");
  for (int i = 0; i < 200'000; ++i) text += "name\n";
  EXPECT_NE(refusal_of(text), "no error");
}

TEST(Topology, WhatIsFarTooLargeIsNotRead) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "disk.txt";
  write_file(file, "GPU0");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);  // no machine could hold it
  const std::string said = message_of([&] { read_cluster(file, GpuCatalogue::bundled()); });
  EXPECT_NE(said.find("more than the 67.11 MB"), std::string::npos) << said;
}

TEST(Topology, MoreLinksThanThereCanBeAreNone) {
  for (const char* kind : {"NV2147483647", "NV65", "NV99999999999"})
    EXPECT_NE(refusal_of(matrix_of(3, kind) + list_of(3, "NVIDIA A100-SXM4-80GB"))
                  .find("is no kind of link"),
              std::string::npos)
        << kind;
}

TEST(Topology, GpusOnASwitchHaveAllTheirNvlinksToEachOther) {
  const Cluster cluster = cluster_of(matrix_of(8, "NV12") + list_of(8, "NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(cluster.name(), "node7");
  ASSERT_EQ(cluster.device_count(), 8u);
  EXPECT_EQ(cluster.machines().size(), 1u);
  EXPECT_EQ(cluster.gpu(DeviceId(7)).name, "A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(bandwidth_of(cluster, 0, 7), 12 * 25);
  const Cluster two = cluster_of(list_of(2, "NVIDIA H100 80GB HBM3") + matrix_of(2, "NV18"));
  EXPECT_DOUBLE_EQ(bandwidth_of(two, 0, 1), 18 * 25);
}

TEST(Topology, GpusOnPcieHaveTheirArchitecturesGeneration) {
  for (const char* kind : {"PIX", "PXB", "PHB", "NODE", "SYS"}) {
    const Cluster ampere = cluster_of(matrix_of(2, kind) + "gpu: A100-PCIe-40GB\n");
    EXPECT_NEAR(bandwidth_of(ampere, 0, 1), 0.8 * 16 * 1.969, 0.01) << kind;
  }
  const Cluster pascal = cluster_of(matrix_of(2, "PHB") + "GPU: GTX 1080 Ti");
  EXPECT_NEAR(bandwidth_of(pascal, 1, 0), 0.8 * 16 * 0.985, 0.01);
}

TEST(Topology, NvlinksOfPairsAreLeftOutAsWhereTheyAreDiscovered) {
  const Cluster cluster = cluster_of(std::string(kPairs) + list_of(4, "Tesla V100-SXM2-16GB"));
  EXPECT_NEAR(bandwidth_of(cluster, 0, 1), 0.8 * 16 * 0.985, 0.01);
  EXPECT_NE(cluster.json().find("NVLinks join only some"), std::string::npos);
  EXPECT_NE(cluster.json().find("between sockets"), std::string::npos);
}

TEST(Topology, GpusAreNamedByListsTablesOrALine) {
  const std::string table =
      "index, name, memory.total [MiB]\n1, Tesla T4, 15360 MiB\n0, NVIDIA L4, 23034 MiB\n\n";
  const Cluster mixed = cluster_of(table + matrix_of(2, "SYS"));
  EXPECT_EQ(mixed.gpu(DeviceId(0)).name, "L4");
  EXPECT_EQ(mixed.gpu(DeviceId(1)).name, "T4");
  const Cluster split = cluster_of(matrix_of(1, "X") +
                                   "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n"
                                   "  MIG 1g.10gb     Device  0: (UUID: MIG-2)\n");
  EXPECT_EQ(split.gpu(DeviceId(0)).name, "A100-SXM4-80GB MIG 1g.10gb");
}

TEST(Topology, WhatCannotBeDecidedSaysWhatToGive) {
  EXPECT_NE(refusal_of(matrix_of(2, "SYS")).find("append what nvidia-smi -L prints"),
            std::string::npos);
  EXPECT_NE(refusal_of(matrix_of(2, "SYS") + list_of(1, "Tesla T4")).find("GPU1"),
            std::string::npos);
  const std::string unknown = refusal_of(matrix_of(2, "SYS") + list_of(2, "Warp 9000"));
  EXPECT_NE(unknown.find("\"Warp 9000\" is not known"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("gpu: NAME"), std::string::npos) << unknown;
  EXPECT_NE(refusal_of(matrix_of(1, "X") + "name, memory.total [MiB]\nTesla T4, 4000 MiB\n")
                .find("has 4000 MiB, which T4 has not"),
            std::string::npos);
}

TEST(Topology, AMatrixThatIsNotWholeIsRefused) {
  const std::string whole = matrix_of(3, "PIX") + "gpu: T4\n";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return refusal_of(text);
  };
  EXPECT_EQ(refusal_of(whole), "no error");
  const auto says = [](const std::string& message, const char* words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  says(changed("\nGPU1", "\nGPU7"), "GPU7: has a row and no column");
  says(changed("\nGPU1", "\nGPU2"), "GPU2: has two rows");
  says(changed("\nGPU1", "\nNIC1"), "GPU1: has a column and no row");
  says(changed("GPU1\tPIX", "GPU1\tNV4"), "GPU1 to GPU0: is NV4, and PIX the other way");
  says(changed("GPU0\t X ", "GPU0\tPIX"), "GPU0 to GPU0: \"PIX\" is no kind of link");
  says(changed("GPU1\tPIX", "GPU1\tNV"), "\"NV\" is no kind of link");
  says(changed("PIX\tPXB\t0-63,128-191\t0\t\tN/A\n", "PIX\n"), "GPU0: has a row that is cut off");
}

TEST(Topology, CutOrScrambledTextIsAClusterOrRefused) {
  std::mt19937 random(5);
  const std::string whole = matrix_of(3, "NV4") + list_of(3, "NVIDIA A100-SXM4-80GB");
  for (std::size_t i = 0; i < 2 * whole.size(); ++i) {
    std::string text = whole.substr(0, i < whole.size() ? i : whole.size());
    for (int change = i < whole.size() ? 0 : 3; change > 0; --change)
      text[random() % text.size()] = "\x1b[mX \t\n:0G,"[random() % 11];
    if (!is_topology(text)) continue;
    try {
      EXPECT_GT(cluster_of(text).device_count(), 0u);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("node7.txt"), std::string::npos) << error.what();
    }
  }
}

TEST(Topology, IsReadWhereClustersAre) {
  const TemporaryFolder folder;
  write_file(folder / "box.txt", matrix_of(4, "NV3") + "gpu: V100-SXM2-32GB\n");
  const Cluster cluster = read_cluster(folder / "box.txt", GpuCatalogue::bundled());
  EXPECT_EQ(cluster.name(), "box");
  EXPECT_EQ(cluster.device_count(), 4u);
  for (const char* other : {"", "{}", "GPU", "GPU 0: Tesla T4 (UUID: 1)\n", "GPU0", "GPU0 X\n"})
    EXPECT_FALSE(is_topology(other)) << other;
}

}  // namespace
}  // namespace strato
