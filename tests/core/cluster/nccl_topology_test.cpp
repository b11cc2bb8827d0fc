// NCCL's and RCCL's XML of a machine: bandwidths by hand, names, and what is hostile or another
// program's.

#include "core/cluster/read/nccl_topology.h"

#include <gtest/gtest.h>

#include <random>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/machine_text.h"
#include "core/cluster/spec/cluster_spec.h"
#include "tests/message_of.h"

namespace strato {
namespace {

struct Made {
  int gpus = 2;
  std::string gpu = R"(vendor="0x10de" device="0x2330")";
  std::string links = R"(<nvlink target="0000:ff:00.0" count="18" tclass="0x068000"/>)";
  std::string bridge = R"(link_speed="32.0 GT/s PCIe" link_width="16")";
  std::string sm = R"(sm="90")", net = "400000", head = "";
};

std::string xml_of(const Made& made) {
  std::string text = made.head + "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\">\n";
  for (int i = 0; i < made.gpus; ++i) {
    const std::string n = std::to_string(i);
    text += "<pci busid=\"0000:a" + n + ":00.0\" class=\"0x060400\" " + made.bridge + ">\n";
    text += "<pci busid=\"0000:b" + n + ":00.0\" class=\"0x030200\" " + made.gpu +
            " link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"" + n + "\" " + made.sm +
            " rank=\"" + n + "\" gdr=\"1\">" + made.links + "</gpu></pci>\n";
    text += "<pci busid=\"0000:c" + n + ":00.0\" class=\"0x020000\"><nic><net name=\"mlx5_" + n +
            "\" dev=\"" + n + "\" speed=\"" + made.net +
            "\" port=\"1\" gdr=\"1\"/></nic></pci>\n</pci>\n";
  }
  return text + "</cpu>\n</system>\n";
}

std::string nccl_json(const std::string& xml) {
  return nccl_cluster(xml, "node7.xml", GpuCatalogue::bundled());
}
Cluster nccl_made(const std::string& xml) {
  return parse_cluster(nccl_json(xml), "made", GpuCatalogue());
}
ClusterSpec spec_made(const std::string& xml) { return spec_of(nccl_made(xml)); }
std::string nccl_refusal(const std::string& xml) {
  return message_of([&] { nccl_made(xml); });
}
void expect_nccl(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(NcclTopology, GpusOnSwitchesHaveAllTheirNvlinks) {
  const Cluster cluster = nccl_made(xml_of({.gpus = 8}));
  EXPECT_EQ(cluster.name(), "node7");
  ASSERT_EQ(cluster.device_count(), 8u);
  EXPECT_EQ(cluster.gpu(DeviceId(3)).name, "H100-SXM5-80GB");
  EXPECT_DOUBLE_EQ(cluster.path(DeviceId(0), DeviceId(7)).bandwidth / 1e9, 18 * 25);
}

TEST(NcclTopology, PcieIsTheNarrowestLinkToTheCpu) {
  const auto pcie = [](const char* bridge, const char* generation) {
    const ClusterSpec spec = spec_made(xml_of({.links = "", .bridge = bridge}));
    EXPECT_EQ(spec.machines[0].fabric->kind, generation);
    return spec.machines[0].fabric->bandwidth_gbps;
  };
  EXPECT_NEAR(pcie(R"(link_speed="16.0 GT/s PCIe" link_width="8")", "pcie4x8"), 0.8 * 8 * 1.969,
              1e-9);
  EXPECT_NEAR(pcie(R"(link_speed="64.0 GT/s PCIe" link_width="16")", "pcie5x16"), 0.8 * 16 * 3.938,
              1e-9);
  EXPECT_NEAR(pcie(R"(link_speed="8 GT/s" link_width="0")", "pcie3x16"), 0.8 * 16 * 0.985, 1e-9);
  // What a hypervisor makes up.
  EXPECT_NEAR(pcie(R"(link_speed="2.5 GT/s PCIe" link_width="1")", "pcie5x16"), 0.8 * 16 * 3.938,
              1e-9);
}

TEST(NcclTopology, NetworkCardsTogetherAreTheMachinesNetwork) {
  EXPECT_DOUBLE_EQ(spec_made(xml_of({.gpus = 4})).machines[0].nic->bandwidth_gbps, 4 * 50);
  std::string twice = xml_of({.gpus = 2});
  const std::string one = "name=\"mlx5_1\" dev=\"1\"";
  twice.replace(twice.find(one), one.size(), "name=\"mlx5_0\" dev=\"0\"");
  EXPECT_DOUBLE_EQ(spec_made(twice).machines[0].nic->bandwidth_gbps, 50);
}

TEST(NcclTopology, LinksBetweenGpusAreAddedUp) {
  const Made made{.gpus = 2,
                  .gpu = R"(vendor="0x1002" device="0x74a1")",
                  .links = R"(<xgmi target="0000:b0:00.0" count="2" tclass="0x038000"/>)"
                           R"(<xgmi target="0000:b1:00.0" count="2" tclass="0x038000"/>)",
                  .sm = R"(sm="304" gcn="gfx942")"};
  std::string text = xml_of(made);
  const auto drop = [&](const std::string& target, std::size_t from) {
    const std::size_t at = text.find("<xgmi target=\"" + target, from);
    text.erase(at, text.find("/>", at) + 2 - at);
  };
  drop("0000:b0:00.0", 0);  // no GPU leads to itself
  drop("0000:b1:00.0", text.find("dev=\"1\" sm"));
  const Cluster cluster = nccl_made(text);
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "MI300X");
  EXPECT_DOUBLE_EQ(cluster.path(DeviceId(0), DeviceId(1)).bandwidth / 1e9, 2 * 64);
  expect_nccl(cluster.json(), "xGMI links");
}

TEST(NcclTopology, C2cLinksLeadToTheHost) {
  const Made made{.gpu = R"(vendor="0x10de" device="0x2941")",
                  .links = R"(<nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>)"
                           R"(<c2c bw="44712" count="5"/>)",
                  .sm = R"(sm="100")"};
  const ClusterSpec spec = spec_made(xml_of(made));
  EXPECT_EQ(spec.machines[0].gpus[0].type, "GB200-186GB");
  EXPECT_NEAR(spec.machines[0].host_link->bandwidth_gbps, 5 * 44.712, 1e-9);
  EXPECT_DOUBLE_EQ(spec.machines[0].fabric->bandwidth_gbps, 18 * 50);
}

TEST(NcclTopology, GpusAreNamedByACommentTheirDeviceOrTheirCapability) {
  const auto type = [](const Made& made) {
    return spec_made(xml_of(made)).machines[0].gpus[0].type;
  };
  EXPECT_EQ(type({.gpu = R"(vendor="0x10de" device="0x2335")"}), "H200-SXM5-141GB");
  EXPECT_EQ(type({.gpu = "", .sm = R"(sm="103")"}), "B300-SXM-270GB");
  EXPECT_EQ(type({.gpu = "", .head = "<!-- gpu: H200 -->\n"}), "H200-SXM5-141GB");
  expect_nccl(nccl_refusal(xml_of({.gpu = ""})), "compute capability 9.0");
  expect_nccl(nccl_refusal(xml_of({.gpu = ""})), "<!-- gpu: NAME -->");
  expect_nccl(nccl_refusal(xml_of({.gpu = "", .head = "<!-- gpu: V100-SXM2-32GB -->"})),
              "has compute capability 9.0, and V100-SXM2-32GB has 7.0");
  expect_nccl(nccl_refusal(xml_of({.head = "<!-- gpu: Warp 9000 -->"})), "is not known");
}

TEST(NcclTopology, WhatIsLeftToBeFilledInNeedsItsNvlinks) {
  const std::string text =
      "<system version=\"1\"><cpu><pci busid=\"0\" class=\"0x030200\"/>"
      "<pci busid=\"1\" class=\"0x030200\"/></cpu></system>";
  expect_nccl(nccl_refusal(text), "nothing says which GPU it is");
  expect_nccl(nccl_refusal("<!-- gpu: A100-SXM4-80GB -->" + text), "<!-- nvlinks: COUNT -->");
  const Cluster given = nccl_made("<!-- gpu: A100-SXM4-80GB, nvlinks: 12 -->" + text);
  EXPECT_DOUBLE_EQ(given.path(DeviceId(0), DeviceId(1)).bandwidth / 1e9, 12 * 25);
  EXPECT_EQ(nccl_made("<!-- gpu: A100-PCIe-80GB -->" + text).device_count(), 2u);
}

TEST(NcclTopology, WhatCannotBeIsRefused) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = xml_of({});
    text.replace(text.find(from), from.size(), to);
    return nccl_refusal(text);
  };
  expect_nccl(changed("0000:b1:00.0", "0000:b0:00.0"), "of another GPU");
  expect_nccl(changed("rank=\"1\"", "rank=\"0\""), "is rank 0, as another GPU");
  expect_nccl(changed("count=\"18\"", "count=\"-3\""), "\"count\" is \"-3\"");
  expect_nccl(changed("count=\"18\"", "count=\"99999999999\""), "not a number from 0 to 64");
  expect_nccl(changed("speed=\"400000\"", "speed=\"nan\""), "\"speed\" is \"nan\"");
  expect_nccl(changed("tclass=\"0x068000\"", "tclass=\"0x0\""), "which is no device of the file");
  expect_nccl(changed("</system>", ""), "is not XML");
  EXPECT_EQ(changed("rank=\"1\"", "rank=\"9\""), "no error");
}

TEST(NcclTopology, OtherXmlSaysWhatToGive) {
  expect_nccl(nccl_refusal("<topology version=\"2.0\"/>"), "is hwloc's topology");
  expect_nccl(nccl_refusal("<nvidia_smi_log/>"), "nvidia-smi -q -x");
  expect_nccl(nccl_refusal("<graphs/>"), "NCCL_GRAPH_FILE");
  expect_nccl(nccl_refusal("<html/>"), "NCCL_TOPO_DUMP_FILE");
  expect_nccl(nccl_refusal("<system/>"), "has no GPU");
}

TEST(NcclTopology, NothingIsExpandedOrUnbounded) {
  expect_nccl(
      nccl_refusal("<!DOCTYPE s [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><system>&b;</system>"),
      "has a document type");
  expect_nccl(nccl_refusal("<!DOCTYPE s SYSTEM \"file:///etc/passwd\"><system/>"), "document type");
  std::string deep, wide = "<system>";
  for (int i = 0; i < 1'000'000; ++i) deep += "<pci>";
  expect_nccl(nccl_refusal(deep), "has more than 64 levels");
  for (int i = 0; i < 1'000'000; ++i) wide += "<pci/>";
  expect_nccl(nccl_refusal(wide), "has more than 100000 elements");
  expect_nccl(nccl_refusal(std::string(9'000'000, '<')), "is XML of 9000000 bytes");
}

TEST(NcclTopology, CutOrScrambledTextIsAClusterOrRefused) {
  std::mt19937 random(7);
  const std::string whole = xml_of({.gpus = 2});
  for (std::size_t i = 0; i < 3 * whole.size(); ++i) {
    std::string text = whole.substr(0, i < whole.size() ? i : whole.size());
    for (int change = i < whole.size() ? 0 : 3; change > 0; --change)
      text[random() % text.size()] = "<>\"/=-09x& "[random() % 11];
    try {
      EXPECT_GT(nccl_made(text).device_count(), 0u);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("node7.xml"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace strato
