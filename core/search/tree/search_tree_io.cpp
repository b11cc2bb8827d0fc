#include "core/search/tree/search_tree_io.h"

#include <algorithm>
#include <utility>

#include "core/io/container.h"
#include "core/search/tree/legacy_tree.h"
#include "core/search/tree/search_state_json.h"
#include "core/search/tree/search_tree_check.h"

namespace strato {
namespace {

// Versions 1 and 2 were no containers (legacy_tree.h).
constexpr ContainerKind kKind{"stratoscope-search-tree", 3, "the search tree",
                              "run the search again"};

using Vertex = SearchTree::Vertex;

// Calls `visit` with the name and the member of every column of the table of vertices.
template <class Visit>
void for_each_column(Visit&& visit) {
  visit("parent", &Vertex::parent);
  visit("action", &Vertex::action);
  visit("depth", &Vertex::depth);
  visit("visits", &Vertex::visits);
  visit("value_sum", &Vertex::value_sum);
  visit("prior", &Vertex::prior);
  visit("reward", &Vertex::reward);
  visit("step_time_ns", &Vertex::step_time_ns);
  visit("first_child", &Vertex::first_child);
  visit("child_count", &Vertex::child_count);
  visit("prior_row", &Vertex::prior_row);
  visit("weight", &Vertex::weight);
}

Json vertices_json(const std::vector<Vertex>& vertices) {
  Json json = Json::object();
  for_each_column([&]<class T>(const char* name, T Vertex::*member) {
    std::vector<T> column;
    column.reserve(vertices.size());
    for (const Vertex& vertex : vertices) column.push_back(vertex.*member);
    json[name] = packed(column);
  });
  return json;
}

std::vector<Vertex> parse_vertices(const JsonView& json) {
  std::vector<Vertex> vertices(unpacked<std::int32_t>(json.at("parent")).size());
  for_each_column([&]<class T>(const char* name, T Vertex::*member) {
    const std::vector<T> column = unpacked<T>(json.at(name));
    if (column.size() != vertices.size()) damaged_tree("its vertices are not all there");
    for (std::size_t i = 0; i < column.size(); ++i) vertices[i].*member = column[i];
  });
  return vertices;
}

Json decisions_json(const std::vector<Decision>& decisions) {
  std::vector<std::uint8_t> modes;
  std::vector<std::int32_t> counts, devices, weights;
  for (const Decision& decision : decisions) {
    modes.push_back(static_cast<std::uint8_t>(decision.mode));
    counts.push_back(static_cast<std::int32_t>(decision.devices.size()));
    for (const DeviceShare& share : decision.devices) {
      devices.push_back(share.device.value());
      weights.push_back(share.weight);
    }
  }
  return {{"modes", packed(modes)},
          {"counts", packed(counts)},
          {"devices", packed(devices)},
          {"weights", packed(weights)}};
}

void check_decision(const Decision& decision) {
  if (decision.mode > Mode::ModelParallel) damaged_tree("an action has an unknown mode");
  const auto& devices = decision.devices;
  if (devices.empty()) damaged_tree("an action has no device");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].weight < 1) damaged_tree("an action has a bad device share");
    if (i > 0 && devices[i - 1].device >= devices[i].device)
      damaged_tree("an action's devices are not ascending");
  }
}

std::vector<Decision> parse_decisions(const JsonView& json) {
  const auto modes = unpacked<std::uint8_t>(json.at("modes"));
  const auto counts = unpacked<std::int32_t>(json.at("counts"));
  const auto devices = unpacked<std::int32_t>(json.at("devices"));
  const auto weights = unpacked<std::int32_t>(json.at("weights"));
  if (modes.size() != counts.size() || devices.size() != weights.size())
    damaged_tree("its actions are not all there");
  std::vector<Decision> decisions(modes.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    decisions[i].mode = static_cast<Mode>(modes[i]);
    for (std::int32_t left = counts[i]; left > 0; --left, ++at) {
      if (at == devices.size() || devices[at] < 0) damaged_tree("an action has a bad device share");
      decisions[i].devices.push_back(
          {DeviceId(static_cast<std::size_t>(devices[at])), weights[at]});
    }
    check_decision(decisions[i]);
  }
  if (at != devices.size()) damaged_tree("its actions are not all there");
  return decisions;
}

Json pins_json(const SearchTree& tree) {
  std::vector<std::uint8_t> pinned;
  std::vector<Decision> decisions;
  for (const auto& pin : tree.pinned) {
    pinned.push_back(pin.has_value() ? 1 : 0);
    if (pin) decisions.push_back(*pin);
  }
  return {{"groups", packed(pinned)}, {"decisions", decisions_json(decisions)}};
}

void parse_pins(const JsonView& json, SearchTree& tree) {
  const std::vector<std::uint8_t> pinned = unpacked<std::uint8_t>(json.at("groups"));
  const std::vector<Decision> decisions = parse_decisions(json.at("decisions"));
  if (std::ranges::count(pinned, 1) != std::ssize(decisions) ||
      std::ranges::count(pinned, 0) + std::ssize(decisions) != std::ssize(pinned))
    damaged_tree("a pin is neither there nor not");
  std::size_t next = 0;
  for (const std::uint8_t is_pinned : pinned) {
    auto& pin = tree.pinned.emplace_back();
    if (is_pinned == 1) pin = decisions[next++];
  }
}

Json log_json(const std::vector<SearchTree::BackUp>& log) {
  std::vector<std::int32_t> vertices;
  std::vector<float> rewards;
  for (const auto& [vertex, reward] : log) {
    vertices.push_back(vertex);
    rewards.push_back(reward);
  }
  return {{"vertices", packed(vertices)}, {"rewards", packed(rewards)}};
}

std::vector<SearchTree::BackUp> parse_log(const JsonView& json) {
  const auto vertices = unpacked<std::int32_t>(json.at("vertices"));
  const auto rewards = unpacked<float>(json.at("rewards"));
  if (vertices.size() != rewards.size()) damaged_tree("its log is not all there");
  std::vector<SearchTree::BackUp> log(vertices.size());
  for (std::size_t i = 0; i < log.size(); ++i) log[i] = {vertices[i], rewards[i]};
  return log;
}

Json order_json(const std::vector<GroupId>& order) {
  std::vector<std::int32_t> groups;
  for (const GroupId group : order) groups.push_back(group.value());
  return packed(groups);
}

std::vector<GroupId> parse_order(const JsonView& json) {
  std::vector<GroupId> order;
  for (const std::int32_t group : unpacked<std::int32_t>(json)) {
    if (group < 0) damaged_tree("an op group is negative");
    order.emplace_back(static_cast<std::size_t>(group));
  }
  return order;
}

void parse_identity(const JsonView& json, SearchTree& tree) {
  const auto identity = unpacked<std::uint64_t>(json);
  if (identity.size() != 3) damaged_tree("it does not say of which problem it is");
  tree.problem = {identity[0], identity[1]};
  tree.seed = identity[2];
}

SearchTree parse_container(std::string_view bytes) {
  const Contained contained = read_container(bytes, kKind, "search tree");
  const JsonView& json = contained.value;
  SearchTree tree;
  parse_identity(json.at("problem_and_seed"), tree);
  tree.iterations = json.at("iterations").integer(0);
  tree.actions = parse_decisions(json.at("actions"));
  tree.order = parse_order(json.at("order"));
  tree.vertices = parse_vertices(json.at("vertices"));
  tree.priors = unpacked<float>(json.at("priors"));
  parse_pins(json.at("pinned"), tree);
  tree.focus = static_cast<std::int32_t>(
      json.at("focus").integer(-1, std::numeric_limits<std::int32_t>::max()));
  tree.log = parse_log(json.at("log"));
  tree.state = parse_search_state(json.at("state"));
  if (const auto record = json.find("record")) tree.record = parse_record(*record);
  return tree;
}

}  // namespace

std::string serialise(const SearchTree& tree) {
  const std::vector<std::uint64_t> identity = {tree.problem.high, tree.problem.low, tree.seed};
  Json json = {{"problem_and_seed", packed(identity)},
               {"iterations", tree.iterations},
               {"actions", decisions_json(tree.actions)},
               {"order", order_json(tree.order)},
               {"vertices", vertices_json(tree.vertices)},
               {"priors", packed(tree.priors)},
               {"pinned", pins_json(tree)},
               {"focus", tree.focus},
               {"log", log_json(tree.log)},
               {"state", search_state_json(tree.state)}};
  if (tree.record) json["record"] = record_json(*tree.record);
  return write_container(kKind, json);
}

SearchTree parse_search_tree(std::string_view bytes) {
  if (is_legacy_tree(bytes)) return read_legacy_tree(bytes);
  SearchTree tree = parse_container(bytes);
  check_tree(tree);
  return tree;
}

}  // namespace strato
