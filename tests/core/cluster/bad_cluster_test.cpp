// A valid file, changed in one way at a time: every message names the place.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato {
namespace {

constexpr const char* kValid = R"({
  "format": "stratoscope-cluster", "version": 1, "name": "two machines",
  "gpu_types": [{"name": "Toy", "memory_bytes": 1000000000, "memory_bandwidth_GBps": 100,
                 "peak_tflops": {"fp32": 10}}],
  "machines": [
    {"name": "a", "gpus": [{"type": "Toy", "count": 2}],
     "fabric": {"bandwidth_GBps": 10, "latency_us": 1}, "nic": {"bandwidth_GBps": 1, "latency_us": 5}},
    {"name": "b", "count": 2, "gpus": [{"type": "Toy", "count": 1}],
     "nic": {"bandwidth_GBps": 1, "latency_us": 5}}
  ],
  "network": {"latency_us": 1}
})";

std::string refusal_of_json(const std::string& text) {
  try {
    parse_cluster(text, "c.json", GpuCatalogue::bundled());
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "c.json");
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  return "no error";
}

struct Mutation {
  const char* name;
  std::function<void(Json&)> change;
  const char* message;  // how the message begins
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> list = {
      {"wrong_format", [](Json& c) { c["format"] = "x"; }, "c.json: format: is \"x\"; give a file"},
      {"newer_version", [](Json& c) { c["version"] = 2; }, "c.json: version: is 2, newer than"},
      {"no_name", [](Json& c) { c.erase("name"); }, "c.json: has no \"name\"; add it"},
      {"unknown_key", [](Json& c) { c["machnes"] = 1; }, "c.json: machnes: is not a known key"},
      {"no_machines", [](Json& c) { c.erase("machines"); }, "c.json: has no \"machines\""},
      {"empty_machines", [](Json& c) { c["machines"] = Json::array(); },
       "c.json: machines: has no machine"},
      {"machines_not_a_list", [](Json& c) { c["machines"] = 5; },
       "c.json: machines: is not a list"},
      {"no_gpus", [](Json& c) { c["machines"][0].erase("gpus"); },
       "c.json: machines[0]: has no \"gpus\""},
      {"empty_gpus", [](Json& c) { c["machines"][0]["gpus"] = Json::array(); },
       "c.json: machines[0].gpus: has no device"},
      {"no_gpu_in_count", [](Json& c) { c["machines"][0]["gpus"][0]["count"] = 0; },
       "c.json: machines[0].gpus[0].count: is 0; give a whole number from 1 to 16384"},
      {"negative_count", [](Json& c) { c["machines"][1]["count"] = -1; },
       "c.json: machines[1].count: is -1; give a whole number from 1"},
      {"half_count", [](Json& c) { c["machines"][1]["count"] = 1.5; },
       "c.json: machines[1].count: is not a whole number"},
      {"absurd_count", [](Json& c) { c["machines"][1]["count"] = 1'000'000'000; },
       "c.json: machines[1].count: is 1000000000"},
      {"absurd_total",
       [](Json& c) {
         c["machines"][0]["count"] = 1000;
         c["machines"][0]["gpus"][0]["count"] = 1000;
       },
       "c.json: machines[0]: makes 1000000 devices in all; a cluster has at most 16384"},
      {"zero_bandwidth", [](Json& c) { c["machines"][0]["fabric"]["bandwidth_GBps"] = 0; },
       "c.json: machines[0].fabric.bandwidth_GBps: is 0; give a number above zero"},
      {"negative_bandwidth", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = -2; },
       "c.json: machines[1].nic.bandwidth_GBps: is -2; give a number above zero"},
      {"tiny_bandwidth", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = 1e-300; },
       "c.json: machines[1].nic.bandwidth_GBps: is 1e-300; give a number from 1e-06"},
      {"null_bandwidth", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = nullptr; },
       "c.json: machines[1].nic: has no \"bandwidth_GBps\""},
      {"text_bandwidth", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = "1"; },
       "c.json: machines[1].nic.bandwidth_GBps: is not a number"},
      {"bits_per_second", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = "100Gbps"; },
       "c.json: machines[1].nic.bandwidth_GBps: is \"100Gbps\"; write 12.5, the number of 10^9 "
       "bytes"},
      {"bytes_per_second",
       [](Json& c) { c["machines"][0]["fabric"]["bandwidth_GBps"] = "25 GB/s"; },
       "c.json: machines[0].fabric.bandwidth_GBps: is \"25 GB/s\"; write 25, the"},
      {"bits_of_the_switch", [](Json& c) { c["network"]["bandwidth_GBps"] = "1.6 Tb/s"; },
       "c.json: network.bandwidth_GBps: is \"1.6 Tb/s\"; write 200, the"},
      {"unknown_unit", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = "5 furlongs"; },
       "c.json: machines[1].nic.bandwidth_GBps: is not a number"},
      {"infinite_text", [](Json& c) { c["machines"][1]["nic"]["bandwidth_GBps"] = "infGbps"; },
       "c.json: machines[1].nic.bandwidth_GBps: is not a number"},
      {"latency_with_a_unit", [](Json& c) { c["machines"][1]["nic"]["latency_us"] = "500 ns"; },
       "c.json: machines[1].nic.latency_us: is \"500 ns\"; write 0.5, the number of microseconds"},
      {"host_memory_with_a_unit", [](Json& c) { c["machines"][0]["host_memory_bytes"] = "2TB"; },
       "c.json: machines[0].host_memory_bytes: is \"2TB\"; write 2199023255552, the number of "
       "bytes"},
      {"no_host_memory", [](Json& c) { c["machines"][1]["host_memory_bytes"] = 0; },
       "c.json: machines[1].host_memory_bytes: is 0"},
      {"memory_with_a_unit", [](Json& c) { c["gpu_types"][0]["memory_bytes"] = "80GB"; },
       "c.json: gpu_types[0].memory_bytes: is \"80GB\"; write 85899345920, the number of bytes"},
      {"memory_rate_with_a_unit",
       [](Json& c) { c["gpu_types"][0]["memory_bandwidth_GBps"] = "2 TB/s"; },
       "c.json: gpu_types[0].memory_bandwidth_GBps: is \"2 TB/s\"; write 2000, the"},
      {"lone_peak", [](Json& c) { c["gpu_types"][0]["peak_tflops"] = 15.7; },
       "c.json: gpu_types[0].peak_tflops: is not an object; write {\"fp32\": 15.7"},
      {"gpus_as_a_number", [](Json& c) { c["machines"][0]["gpus"] = 8; },
       "c.json: machines[0].gpus: is not a list; write [{\"type\": \"V100\", \"count\": 8}]"},
      {"gpus_as_texts",
       [](Json& c) {
         c["machines"][0]["gpus"] = {"V100", "V100"};
       },
       "c.json: machines[0].gpus[0]: is not an object; write {\"type\": \"V100\", \"count\": 8}"},
      {"link_as_a_number", [](Json& c) { c["machines"][0]["fabric"] = 100; },
       "c.json: machines[0].fabric: is not an object; write {\"bandwidth_GBps\": 12.5"},
      {"network_as_a_text", [](Json& c) { c["network"] = "infiniband"; },
       "c.json: network: is not an object; write {\"latency_us\": 1}"},
      {"no_format", [](Json& c) { c.erase("format"); },
       "c.json: has no \"format\"; begin it with \"format\": \"stratoscope-cluster\", \"version\": "
       "1"},
      {"negative_latency", [](Json& c) { c["network"]["latency_us"] = -1; },
       "c.json: network.latency_us: is -1; give a number from 0"},
      {"zero_switch", [](Json& c) { c["network"]["bandwidth_GBps"] = 0; },
       "c.json: network.bandwidth_GBps: is 0"},
      {"duplicate_machine",
       [](Json& c) { c["machines"][1].erase("count"), c["machines"][1]["name"] = "a"; },
       "c.json: machines[1].name: \"a\" names two machines"},
      {"duplicate_after_counting", [](Json& c) { c["machines"][0]["name"] = "b-1"; },
       "c.json: machines[1].name: \"b-1\" names two machines"},
      {"empty_machine_name", [](Json& c) { c["machines"][0]["name"] = ""; },
       "c.json: machines[0].name: is not a machine's name"},
      {"colon_in_machine_name", [](Json& c) { c["machines"][0]["name"] = "a:0"; },
       "c.json: machines[0].name: is not a machine's name"},
      {"machine_named_like_a_link", [](Json& c) { c["machines"][0]["name"] = "net"; },
       "c.json: machines[0].name: is \"net\", a link's name"},
      {"unknown_gpu", [](Json& c) { c["machines"][0]["gpus"][0]["type"] = "GTX 1080 To"; },
       "c.json: machines[0].gpus[0].type: \"GTX 1080 To\" is not a known GPU; nearest: "
       "GTX-1080-Ti"},
      {"gpu_type_twice",
       [](Json& c) {
         c["machines"][0]["gpus"].push_back(Json{{"type", "toy"}, {"count", 1}});
       },
       "c.json: machines[0].gpus[1].type: repeats \"Toy\""},
      {"no_fabric", [](Json& c) { c["machines"][0].erase("fabric"); },
       "c.json: machines[0]: has several GPUs and no \"fabric\""},
      {"no_network", [](Json& c) { c.erase("network"); },
       "c.json: has several machines and no \"network\""},
      {"no_nic", [](Json& c) { c["machines"][1].erase("nic"); },
       "c.json: machines[1]: has no \"nic\"; add it"},
      {"unknown_key_in_link", [](Json& c) { c["machines"][0]["fabric"]["bandwith"] = 3; },
       "c.json: machines[0].fabric.bandwith: is not a known key; known here: kind, bandwidth_GBps"},
      {"link_to_unknown_machine",
       [](Json& c) {
         c["links"] = {{{"between", {"a", "b"}}, {"bandwidth_GBps", 1}}};
       },
       "c.json: links[0].between[1]: \"b\" is not a machine; machines: a, b-0, b-1"},
      {"link_to_itself",
       [](Json& c) {
         c["links"] = {{{"between", {"a", "a"}}, {"bandwidth_GBps", 1}}};
       },
       "c.json: links[0].between: joins \"a\" with itself"},
      {"link_of_three",
       [](Json& c) {
         c["links"] = {{{"between", {"a", "b-0", "b-1"}}, {"bandwidth_GBps", 1}}};
       },
       "c.json: links[0].between: does not name two machines"},
      {"link_twice",
       [](Json& c) {
         c["links"] = {{{"between", {"a", "b-0"}}, {"bandwidth_GBps", 1}},
                       {{"between", {"b-0", "a"}}, {"bandwidth_GBps", 1}}};
       },
       "c.json: links[1].between: joins \"b-0\" and \"a\" again"},
      {"inline_gpu_without_memory", [](Json& c) { c["gpu_types"][0].erase("memory_bytes"); },
       "c.json: gpu_types[0]: has no \"memory_bytes\""},
      {"inline_gpu_without_fp32",
       [](Json& c) {
         c["gpu_types"][0]["peak_tflops"] = {{"fp16", 3}};
       },
       "c.json: gpu_types[0].peak_tflops: has no \"fp32\""},
      {"inline_gpu_zero_peak", [](Json& c) { c["gpu_types"][0]["peak_tflops"]["fp32"] = 0; },
       "c.json: gpu_types[0].peak_tflops.fp32: is 0"},
      {"inline_gpu_unknown_precision", [](Json& c) { c["gpu_types"][0]["peak_tflops"]["fp4"] = 9; },
       "c.json: gpu_types[0].peak_tflops.fp4: is not a known key"},
      {"inline_gpu_twice", [](Json& c) { c["gpu_types"].push_back(c["gpu_types"][0]); },
       "c.json: gpu_types[1]: repeats the name \"Toy\""},
  };
  return list;
}

class BadCluster : public testing::TestWithParam<Mutation> {};

TEST_P(BadCluster, NamesThePlace) {
  Json cluster = Json::parse(kValid);
  GetParam().change(cluster);
  const std::string message = refusal_of_json(cluster.dump(1));
  EXPECT_EQ(message.rfind(GetParam().message, 0), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, BadCluster, testing::ValuesIn(mutations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadClusterText, NaNIsNotJson) {
  std::string text = kValid;
  text.replace(text.find("10, \"latency"), 2, "NaN");
  EXPECT_EQ(refusal_of_json(text).rfind("c.json: line 7, column ", 0), 0u) << refusal_of_json(text);
}

TEST(BadClusterText, EveryTruncationIsAnInputError) {
  const std::string text = kValid;
  for (std::size_t size = 0; size < text.size(); size += 7) {
    EXPECT_NE(refusal_of_json(text.substr(0, size)), "no error") << size;
  }
}

TEST(BadClusterText, EveryByteChangedIsFineOrAnInputError) {
  std::string text = kValid;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '-', '9', '"', '}'}) {
      const char before = std::exchange(text[i], byte);
      try {
        parse_cluster(text, "c.json", GpuCatalogue::bundled());
      } catch (const InputError&) {
      }
      text[i] = before;
    }
  }
}

TEST(ValidCluster, OneDeviceWithoutAnyLink) {
  const Cluster cluster = parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "one",
          "machines": [{"name": "m", "gpus": [{"type": "tesla v100-sxm2-16gb"}]}]})",
      "c.json", [] {
        GpuCatalogue own;
        own.add({"V100", {"Tesla V100-SXM2-16GB"}, "Volta", 2017, Bytes(1), 1e9, {0, 1e12}, ""});
        return own;
      }());
  EXPECT_EQ(cluster.device_count(), 1u);
  EXPECT_EQ(cluster.device(DeviceId(0)).name, "m:0");
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "V100");
  EXPECT_TRUE(cluster.links().empty());
}

TEST(ValidCluster, DedicatedLinkReplacesTheNetwork) {
  Json json = Json::parse(kValid);
  json["links"] = {{{"between", {"b-0", "a"}}, {"bandwidth_GBps", 7}, {"latency_us", 3}}};
  const Cluster cluster = parse_cluster(json.dump(), "c.json", GpuCatalogue::bundled());
  const Path& path = cluster.path(cluster.find_device("a:1"), cluster.find_device("b-0:0"));
  ASSERT_EQ(path.links.size(), 2u);  // b's GPU has no port of its own
  EXPECT_EQ(cluster.links()[path.links[0]].name, "a:1>fabric");
  EXPECT_EQ(cluster.links()[path.links[1]].name, "a>b-0");
  EXPECT_EQ(path.bandwidth, 7e9);
  EXPECT_EQ(path.latency, Nanos(4000));
  const Path& other = cluster.path(cluster.find_device("a:1"), cluster.find_device("b-1:0"));
  EXPECT_EQ(cluster.links()[other.links[1]].name, "a>net");
  EXPECT_EQ(parse_cluster(cluster.json(), "again", GpuCatalogue()).digest(), cluster.digest());
}

TEST(ValidCluster, SwitchWithABandwidthIsALink) {
  Json json = Json::parse(kValid);
  json["network"] = {{"latency_us", 2}, {"bandwidth_GBps", 0.5}};
  const Cluster cluster = parse_cluster(json.dump(), "c.json", GpuCatalogue::bundled());
  const Path& path = cluster.path(cluster.find_device("b-0:0"), cluster.find_device("b-1:0"));
  ASSERT_EQ(path.links.size(), 3u);
  EXPECT_EQ(cluster.links()[path.links[1]].name, "network");
  EXPECT_EQ(path.bandwidth, 0.5e9);
  EXPECT_EQ(path.latency, Nanos(5000 + 2000 + 5000));
  EXPECT_EQ(parse_cluster(cluster.json(), "again", GpuCatalogue()).digest(), cluster.digest());
}

TEST(ValidCluster, SeveralTypesInAMachineMakeSeveralGroups) {
  Json json = Json::parse(kValid);
  json["machines"][0]["gpus"].push_back(Json{{"type", "L40S"}, {"count", 2}});
  const Cluster cluster = parse_cluster(json.dump(), "c.json", GpuCatalogue::bundled());
  EXPECT_TRUE(cluster.find_group("a/Toy").valid());
  const DeviceGroup& group = cluster.groups()[cluster.find_group("a/L40S")];
  ASSERT_EQ(group.devices.size(), 2u);
  EXPECT_EQ(cluster.device(group.devices[0]).name, "a:2");
  EXPECT_FALSE(cluster.find_group("a").valid());
}

TEST(ValidCluster, DigestIsOfTheContent) {
  const Json valid = Json::parse(kValid);
  const auto digest = [](const Json& json) {
    return parse_cluster(json.dump(), "c.json", GpuCatalogue::bundled()).digest();
  };
  Json same = valid, other = valid;
  same["note"] = "a remark";
  same["machines"][0]["fabric"]["kind"] = "pcie";
  other["machines"][0]["fabric"]["latency_us"] = 1.001;
  EXPECT_EQ(digest(same), digest(valid));
  EXPECT_NE(digest(other), digest(valid));
}

TEST(Catalogue, FindsNamesAndAliasesInAnyCase) {
  ASSERT_NE(GpuCatalogue::bundled().find("gtx 1080 TI"), nullptr);
  EXPECT_EQ(GpuCatalogue::bundled().find("gtx 1080 TI")->name, "GTX-1080-Ti");
  EXPECT_EQ(GpuCatalogue::bundled().find("GTX-1080-Ti"), GpuCatalogue::bundled().find("1080ti"));
  EXPECT_EQ(GpuCatalogue::bundled().find(""), nullptr);
  EXPECT_EQ(GpuCatalogue::bundled().nearest("V100 SXM2").front().substr(0, 9), "V100-SXM2");
  EXPECT_TRUE(GpuCatalogue().nearest("V100").empty());
}

TEST(Catalogue, IsPlausible) {
  EXPECT_GE(GpuCatalogue::bundled().gpus().size(), 25u);
  for (const GpuType& gpu : GpuCatalogue::bundled().gpus()) {
    const auto peak = [&](Precision p) { return gpu.peak_flops[static_cast<std::size_t>(p)]; };
    EXPECT_GT(peak(Precision::Fp32), 3e12) << gpu.name;
    EXPECT_LT(peak(Precision::Fp32), 2e14) << gpu.name;
    EXPECT_GT(gpu.memory_bandwidth, 1e11) << gpu.name;
    EXPECT_GE(gpu.memory.value, std::int64_t{8} << 30) << gpu.name;
    EXPECT_FALSE(gpu.sources.empty()) << gpu.name;
  }
}

}  // namespace
}  // namespace strato
