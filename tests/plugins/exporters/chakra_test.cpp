// Traces as a reader of the schema sees them, which is written here a second time.
#include <cstdint>
#include <optional>
#include <set>

#include "core/io/json.h"
#include "tests/plugins/exporters/export_kit.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

// Protobuf's wire format: varints (0) and texts (2) are all that there is.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(0));
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::string_view text() {
    const std::uint64_t size = varint();
    if (size > bytes_.size()) throw std::runtime_error("cut off");
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view bytes_;
};

enum NodeKind { kLoad = 2, kStore = 3, kComp = 4, kSend = 5, kReceive = 6, kCollective = 7 };

struct NodeAttribute {
  std::uint64_t number = 0;
  std::string text;
};

struct TraceNode {
  std::uint64_t id = 0, kind = 0, start = 0, duration = 0;
  std::string name;
  std::vector<std::uint64_t> control, data;
  std::map<std::string, NodeAttribute> attributes;
  std::uint64_t number(const std::string& key) const { return attributes.at(key).number; }
};

void read_ids(Wire& wire, std::uint64_t type, std::vector<std::uint64_t>& ids) {
  if (type == 0) return ids.push_back(wire.varint());
  Wire packed(wire.text());
  while (!packed.at_end()) ids.push_back(packed.varint());
}

std::pair<std::string, NodeAttribute> read_attribute(std::string_view bytes) {
  Wire wire(bytes);
  std::pair<std::string, NodeAttribute> result;
  while (!wire.at_end()) {
    const std::uint64_t key = wire.varint();
    if (key == (1 << 3 | 2)) {
      result.first = wire.text();
    } else if (key == (29 << 3 | 2)) {
      result.second.text = wire.text();
    } else {  // int32, int64, uint64, bool
      EXPECT_TRUE((std::set<std::uint64_t>{7 << 3, 9 << 3, 13 << 3, 27 << 3}).contains(key));
      result.second.number = wire.varint();
    }
  }
  return result;
}

TraceNode read_node(std::string_view bytes) {
  Wire wire(bytes);
  TraceNode node;
  while (!wire.at_end()) {
    const std::uint64_t key = wire.varint(), field = key >> 3;
    if (field == 1)
      node.id = wire.varint();
    else if (field == 2)
      node.name = wire.text();
    else if (field == 3)
      node.kind = wire.varint();
    else if (field == 4)
      read_ids(wire, key & 7, node.control);
    else if (field == 5)
      read_ids(wire, key & 7, node.data);
    else if (field == 6)
      node.start = wire.varint();
    else if (field == 7)
      node.duration = wire.varint();
    else if (field == 10)
      node.attributes.insert(read_attribute(wire.text()));
    else
      ADD_FAILURE() << "field " << field;
  }
  return node;
}

using Trace = std::vector<TraceNode>;

Trace read_trace(const std::string& content) {
  Wire wire(content);
  Wire metadata(wire.text());
  EXPECT_EQ(metadata.varint(), (1 << 3 | 2));
  EXPECT_EQ(metadata.text(), "0.0.4");
  Trace trace;
  while (!wire.at_end()) trace.push_back(read_node(wire.text()));
  return trace;
}

struct TracedJob {
  explicit TracedJob(const Exportable& plan) {
    const auto files = exported_folder("chakra", plan);
    for (std::size_t i = 0; i < plan.problem.cluster->device_count(); ++i) {
      traces.push_back(read_trace(files.at("trace." + std::to_string(i) + ".et")));
    }
    groups = Json::parse(files.at("comm_groups.json"));
    EXPECT_EQ(files.size(), traces.size() + 2);
  }
  std::vector<std::size_t> members_of(const TraceNode& node) const {
    if (node.attributes.contains("pg_name")) return groups.at(node.attributes.at("pg_name").text);
    std::vector<std::size_t> all(traces.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  std::vector<Trace> traces;
  Json groups;
};

// Runs the job as a simulator does that has one compute and two communication streams a rank, where
// what communicates starts when all its ranks are there. Returns how many nodes were left.
std::size_t left_after_running(const TracedJob& job) {
  std::vector<std::set<std::uint64_t>> done(job.traces.size());
  std::vector<std::vector<bool>> ran;
  for (const Trace& trace : job.traces) ran.emplace_back(trace.size(), false);
  const auto ready = [&](std::size_t rank, const TraceNode& node) {
    const auto is_done = [&](std::uint64_t id) { return done[rank].contains(id); };
    return std::all_of(node.control.begin(), node.control.end(), is_done) &&
           std::all_of(node.data.begin(), node.data.end(), is_done);
  };
  const auto partners = [&](std::size_t rank, const TraceNode& node) {
    if (node.kind == kSend) return std::vector<std::size_t>{rank, node.number("comm_dst")};
    if (node.kind == kReceive) return std::vector<std::size_t>{node.number("comm_src"), rank};
    if (node.kind == kCollective) return job.members_of(node);
    return std::vector<std::size_t>{rank};
  };
  const auto find = [&](std::size_t rank, std::uint64_t id) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < job.traces[rank].size(); ++i) {
      if (job.traces[rank][i].id == id) return i;
    }
    return std::nullopt;
  };
  for (bool moved = true; std::exchange(moved, false);) {
    for (std::size_t r = 0; r < job.traces.size(); ++r) {
      for (std::size_t i = 0; i < job.traces[r].size(); ++i) {
        const TraceNode& node = job.traces[r][i];
        if (ran[r][i] || !ready(r, node)) continue;
        const auto ranks = partners(r, node);
        const bool all = std::all_of(ranks.begin(), ranks.end(), [&](std::size_t other) {
          const auto at = find(other, node.id);
          return at && ready(other, job.traces[other][*at]);
        });
        if (!all) continue;
        for (const std::size_t other : ranks) {
          ran[other][*find(other, node.id)] = true;
          done[other].insert(node.id);
        }
        moved = true;
      }
    }
  }
  std::size_t left = 0;
  for (const auto& rank : ran)
    left += static_cast<std::size_t>(std::count(rank.begin(), rank.end(), false));
  return left;
}

void expect_sound(const Exportable& plan) {
  const TracedJob job(plan);
  const Program& program = *plan.outcome.program;
  std::size_t nodes = 0;
  std::int64_t stored = 0,
               loaded = 0;  // bytes, to hosts and back: of nodes, without those of tasks
  std::map<std::uint64_t, std::vector<const TraceNode*>> sends, receives, collectives;
  for (std::size_t r = 0; r < job.traces.size(); ++r) {
    std::uint64_t last = 0;
    for (const TraceNode& node : job.traces[r]) {
      EXPECT_GT(node.id, last);  // ascending: dependencies come first
      last = node.id;
      for (const std::uint64_t id : node.data) EXPECT_LT(id, node.id);
      for (const std::uint64_t id : node.control) EXPECT_LT(id, node.id);
      if (node.name == "idle") continue;
      ++nodes;
      EXPECT_EQ(node.number("is_cpu_op"), 0u);
      EXPECT_EQ((node.number("duration_ns") + 500) / 1000, node.duration);
      EXPECT_TRUE(node.kind != kComp || node.number("tensor_size") > 0);
      EXPECT_TRUE(node.kind != kSend || node.number("comm_src") == r);
      EXPECT_TRUE(node.kind != kReceive || node.number("comm_dst") == r);
      if (node.kind == kStore) stored += static_cast<std::int64_t>(node.number("tensor_size"));
      if (node.kind == kLoad) loaded += static_cast<std::int64_t>(node.number("tensor_size"));
      if (node.kind == kSend) sends[node.id].push_back(&node);
      if (node.kind == kReceive) receives[node.id].push_back(&node);
      if (node.kind == kCollective) collectives[node.id].push_back(&node);
    }
  }
  std::size_t expected = 0;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    const bool collective =
        is_communication(task.kind) && task.kind != TaskKind::Transfer && !is_host_copy(task.kind);
    stored -= task.kind == TaskKind::Offload ? task.bytes.value : 0;
    loaded -= task.kind == TaskKind::Fetch ? task.bytes.value : 0;
    expected += task.kind == TaskKind::Transfer ? 2 : 1;
    if (collective) {  // each member's communication stream, and links
      expected += static_cast<std::size_t>(
                      std::count_if(program.resources[i].begin(), program.resources[i].end(),
                                    [&](ResourceId id) { return !program.is_link(id); })) -
                  1;
    }
  }
  EXPECT_EQ(nodes, expected);
  EXPECT_EQ(stored, 0);
  EXPECT_EQ(loaded, 0);
  ASSERT_EQ(sends.size(), receives.size());
  for (const auto& [id, send] : sends) {
    const TraceNode& receive = *receives.at(id).at(0);
    for (const char* key : {"comm_src", "comm_dst", "comm_tag", "comm_size"}) {
      EXPECT_EQ(send.at(0)->number(key), receive.number(key)) << key;
    }
  }
  for (const auto& [id, members] : collectives) {
    EXPECT_EQ(members.size(), job.members_of(*members[0]).size());
    for (const TraceNode* member : members) {
      EXPECT_EQ(member->number("comm_type"), members[0]->number("comm_type"));
      EXPECT_EQ(member->number("comm_size"), members[0]->number("comm_size"));
    }
  }
  EXPECT_EQ(left_after_running(job), 0u);
}

TEST(Chakra, EveryTaskIsANodeWhereItRuns) {
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    SCOPED_TRACE(name_of(mode));
    expect_sound(lenet(mode, {{DeviceId(0), 2}, {DeviceId(1), 1}, {DeviceId(2), 1}}));
    expect_sound(
        lenet(mode, {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(2), 1}, {DeviceId(3), 1}}));
  }
}

TEST(Chakra, RandomStrategiesEnd) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Strategy strategy = random_strategy(problem, random);
    if (seed % 3 == 0) strategy = with_meshes(problem, strategy, random);
    strategy.splits = random_splits(problem, strategy, random);
    if (seed % 4 == 1) strategy.offloaded = random_offloaded(*problem.graph, {}, random);
    expect_sound({{problem.graph, problem.grouping, problem.cluster, problem.cost}, strategy});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Chakra, CollectivesSayWhatOneMemberBrings) {
  const Exportable plan = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}});
  const TracedJob job(plan);
  std::uint64_t bytes = 0;
  for (const TraceNode& node : job.traces[0]) {
    if (node.kind != kCollective) continue;
    EXPECT_EQ(node.number("comm_type"), 0u);
    EXPECT_EQ(job.members_of(node), (std::vector<std::size_t>{0, 1}));
    bytes += node.number("comm_size");
  }
  EXPECT_EQ(bytes, static_cast<std::uint64_t>(plan.problem.graph->parameter_bytes().value));
  EXPECT_EQ(job.traces[2].size(), 1u);  // idle, but there
  EXPECT_EQ(job.traces[2][0].kind, 0u);
}

}  // namespace
}  // namespace strato
