// GPUs are found by what drivers, schedulers and people call them.
#include <gtest/gtest.h>

#include <map>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {
namespace {

std::string found(const char* name) {
  const GpuType* gpu = GpuCatalogue::bundled().find(name);
  return gpu == nullptr ? "" : gpu->name;
}

TEST(GpuNames, OfTheDriver) {
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100-PCIe-80GB");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100-SXM5-80GB");
  EXPECT_EQ(found("H100 80GB HBM3"), "H100-SXM5-80GB");
  EXPECT_EQ(found("Tesla V100-SXM3-32GB"), "V100-SXM2-32GB");
  EXPECT_EQ(found("Tesla T4"), "T4");
  EXPECT_EQ(found("GeForce RTX 4090"), "RTX-4090");
  EXPECT_EQ(found("NVIDIA RTX 6000 Ada Generation"), "RTX-6000-Ada");
  EXPECT_EQ(found("NVIDIA GH200 480GB"), "GH200-96GB");
  EXPECT_EQ(found("AMD Instinct MI250X"), "MI250X");
  EXPECT_EQ(found("NVIDIA RTX A5000"), "RTX-A5000");
  EXPECT_EQ(found("NVIDIA TITAN RTX"), "TITAN-RTX");
}

TEST(GpuNames, OfSlurmAndOfPeople) {
  EXPECT_EQ(found("tesla_v100-sxm2-32gb"), "V100-SXM2-32GB");
  EXPECT_EQ(found("nvidia_h100_80gb_hbm3"), "H100-SXM5-80GB");
  EXPECT_EQ(found("a100_80gb"), "A100-SXM4-80GB");
  EXPECT_EQ(found("A100-80G"), "A100-SXM4-80GB");
  EXPECT_EQ(found("A100 80GB SXM4"), "A100-SXM4-80GB");
  EXPECT_EQ(found("gtx1080ti"), "GTX-1080-Ti");
  EXPECT_EQ(found("mi300x"), "MI300X");
}

TEST(GpuNames, LikeOnesStayApart) {
  EXPECT_EQ(found("TITAN X"), "GTX-TITAN-X");
  EXPECT_EQ(found("NVIDIA TITAN X"), "TITAN-X-Pascal");
  EXPECT_EQ(found("P4"), "P4");
  EXPECT_EQ(found("L40"), "L40");
  EXPECT_EQ(found("L40S"), "L40S");
  EXPECT_EQ(found("RTX 6000"), "");  // Turing's, Ada's or Blackwell's
  EXPECT_EQ(found("A100 20GB"), "");
  EXPECT_EQ(found("NVIDIA"), "");
  EXPECT_EQ(found("---"), "");
}

TEST(GpuNames, EveryNameFindsItsOwn) {
  for (const GpuType& gpu : GpuCatalogue::bundled().gpus()) {
    EXPECT_EQ(GpuCatalogue::bundled().find(gpu.name), &gpu);
    for (const std::string& alias : gpu.aliases) {
      EXPECT_EQ(GpuCatalogue::bundled().find(alias), &gpu) << alias;
      EXPECT_NE(GpuCatalogue::bundled().find("NVIDIA " + alias), nullptr) << alias;
    }
  }
}

TEST(GpuNames, FiguresOfDataSheets) {
  struct Known {
    const char* name;
    std::int64_t gib;
    double bandwidth, fp32, fp16;  // 10^9 B/s, 10^12/s
  };
  for (const Known& known : std::initializer_list<Known>{{"V100", 16, 900, 15.7, 125},
                                                         {"A100", 40, 1555, 19.5, 312},
                                                         {"H100", 80, 3350, 67, 989.5},
                                                         {"H200", 141, 4800, 67, 989.5},
                                                         {"B200", 180, 7700, 75, 2250},
                                                         {"T4", 16, 320, 8.1, 65},
                                                         {"A10G", 24, 600, 35, 70},
                                                         {"MI250X", 64, 1638.4, 47.9, 191.5},
                                                         {"MI300X", 192, 5300, 163.4, 1307.4}}) {
    const GpuType* gpu = GpuCatalogue::bundled().find(known.name);
    ASSERT_NE(gpu, nullptr) << known.name;
    EXPECT_EQ(gpu->memory.value, known.gib << 30) << known.name;
    EXPECT_DOUBLE_EQ(gpu->memory_bandwidth, known.bandwidth * 1e9) << known.name;
    EXPECT_DOUBLE_EQ(gpu->peak_flops[static_cast<std::size_t>(Precision::Fp32)], known.fp32 * 1e12);
    EXPECT_DOUBLE_EQ(gpu->peak_flops[static_cast<std::size_t>(Precision::Fp16)], known.fp16 * 1e12);
  }
}

// A file's own GPU comes before the catalogue's, however its name is written.
TEST(GpuNames, OfTheFileComeFirst) {
  const Cluster cluster = parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "own",
          "gpu_types": [{"name": "NVIDIA V100", "memory_bytes": 1000, "memory_bandwidth_GBps": 100,
                         "peak_tflops": {"fp32": 10}}],
          "machines": [{"name": "a", "gpus": [{"type": "v100"}]}]})",
      "c.json", GpuCatalogue::bundled());
  EXPECT_EQ(cluster.gpu_types()[GpuTypeId(0)].memory.value, 1000);
}

}  // namespace
}  // namespace strato
