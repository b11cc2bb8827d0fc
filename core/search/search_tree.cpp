// Serialised form, little endian:
//   "STRATREE" u32 version, digest (2 x u64), i64 iterations, u64 seed, random_state,
//   actions: count, each (u8 mode, count, each (i32 device, i32 weight)),
//   order: count, each i32 group,
//   vertices: count, each (i32 parent, action, depth, visits, first_child, child_count, prior_row,
//                          f64 value_sum, f32 prior, f32 reward, i64 step_time_ns),
//   priors: count, each f32.
// Counts are u64; text is a count and bytes. Everything is checked on the way in.
#include "core/search/search_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::string_view kMagic = "STRATREE";
constexpr std::uint32_t kVersion = 1;
static_assert(std::endian::native == std::endian::little,
              "serialised values are copied as they are");

[[noreturn]] void damaged(const std::string& what) {
  throw InputError("", "search tree", "it is damaged: " + what, "run the search again");
}

class Writer {
 public:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void count(std::size_t n) { put(static_cast<std::uint64_t>(n)); }
  void raw(std::string_view text) { bytes_.append(text); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  // Refuses counts that the rest cannot hold, so that nothing huge is ever allocated.
  std::size_t count(std::size_t bytes_each) {
    const auto n = get<std::uint64_t>();
    if (n > rest_.size() / bytes_each) damaged("a count is larger than the data");
    return static_cast<std::size_t>(n);
  }
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) damaged("it ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void write_vertex(Writer& out, const SearchTree::Vertex& v) {
  for (std::int32_t n :
       {v.parent, v.action, v.depth, v.visits, v.first_child, v.child_count, v.prior_row})
    out.put(n);
  out.put(v.value_sum);
  out.put(v.prior);
  out.put(v.reward);
  out.put(v.step_time_ns);
}

SearchTree::Vertex read_vertex(Reader& in) {
  SearchTree::Vertex v;
  for (std::int32_t* n :
       {&v.parent, &v.action, &v.depth, &v.visits, &v.first_child, &v.child_count, &v.prior_row})
    *n = in.get<std::int32_t>();
  v.value_sum = in.get<double>();
  v.prior = in.get<float>();
  v.reward = in.get<float>();
  v.step_time_ns = in.get<std::int64_t>();
  return v;
}

Decision read_decision(Reader& in) {
  Decision decision;
  const auto mode = in.get<std::uint8_t>();
  if (mode > static_cast<std::uint8_t>(Mode::ModelParallel))
    damaged("an action has an unknown mode");
  decision.mode = static_cast<Mode>(mode);
  const std::size_t devices = in.count(8);
  if (devices == 0) damaged("an action has no device");
  for (std::size_t i = 0; i < devices; ++i) {
    const auto device = in.get<std::int32_t>();
    const auto weight = in.get<std::int32_t>();
    if (device < 0 || weight < 1) damaged("an action has a bad device share");
    decision.devices.push_back({DeviceId(static_cast<std::size_t>(device)), weight});
    if (i > 0 && decision.devices[i - 1].device >= decision.devices[i].device)
      damaged("an action's devices are not ascending");
  }
  return decision;
}

void check_links(const SearchTree& tree, std::size_t index) {
  const SearchTree::Vertex& v = tree.vertices[index];
  const auto size = static_cast<std::int64_t>(tree.vertices.size());
  const bool children_fit =
      v.child_count == 0 || (v.first_child > static_cast<std::int64_t>(index) &&
                             std::int64_t{v.first_child} + v.child_count <= size);
  if (v.child_count < 0 || !children_fit) damaged("children out of range");
  for (std::int32_t c = 0; c < v.child_count; ++c) {
    const std::int32_t child = v.first_child + c;
    if (tree.vertices[static_cast<std::size_t>(child)].parent != static_cast<std::int32_t>(index))
      damaged("a child that names another parent");
  }
  if (index == 0) {
    if (v.parent != -1 || v.depth != 0) damaged("the root is not a root");
    return;
  }
  if (v.parent < 0 || v.parent >= static_cast<std::int64_t>(index)) damaged("parent out of range");
  const SearchTree::Vertex& parent = tree.vertices[static_cast<std::size_t>(v.parent)];
  const std::int64_t place = static_cast<std::int64_t>(index) - parent.first_child;
  if (place < 0 || place >= parent.child_count) damaged("a vertex that its parent does not know");
  if (v.depth != parent.depth + 1 || static_cast<std::size_t>(v.depth) > tree.order.size())
    damaged("depth out of range");
  if (v.action < 0 || static_cast<std::size_t>(v.action) >= tree.actions.size())
    damaged("action out of range");
}

void check(const SearchTree& tree) {
  if (tree.vertices.empty()) damaged("it has no root");
  if (tree.iterations < 0) damaged("iterations are negative");
  const std::size_t width = std::max<std::size_t>(tree.actions.size(), 1);
  if (tree.priors.size() % width != 0) damaged("priors are not whole rows");
  for (std::size_t i = 0; i < tree.vertices.size(); ++i) {
    check_links(tree, i);
    const SearchTree::Vertex& v = tree.vertices[i];
    const bool numbers =
        std::isfinite(v.value_sum) && std::isfinite(v.prior) && std::isfinite(v.reward);
    if (!numbers || v.visits < 0 || v.step_time_ns < 0)
      damaged("a vertex has impossible statistics");
    if (v.prior_row < -1 || v.prior_row >= static_cast<std::int64_t>(tree.priors.size() / width))
      damaged("prior row out of range");
  }
  std::vector<GroupId> order = tree.order;
  std::ranges::sort(order);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != GroupId(i)) damaged("its order of op groups is not a permutation");
}

}  // namespace

Strategy SearchTree::strategy_at(std::int32_t vertex, std::size_t group_count) const {
  CHECK(vertex >= 0 && static_cast<std::size_t>(vertex) < vertices.size(), "no such vertex");
  Strategy strategy;
  strategy.groups.resize(group_count);
  for (std::int32_t v = vertex; vertices[static_cast<std::size_t>(v)].parent >= 0;) {
    const Vertex& at = vertices[static_cast<std::size_t>(v)];
    const GroupId group = order[static_cast<std::size_t>(at.depth - 1)];
    CHECK(group.index() < group_count, "the tree has more op groups than the problem");
    strategy.groups[group] = actions[static_cast<std::size_t>(at.action)];
    v = at.parent;
  }
  return strategy;
}

std::vector<std::int32_t> SearchTree::children(std::int32_t vertex) const {
  const Vertex& at = vertices[static_cast<std::size_t>(vertex)];
  std::vector<std::int32_t> result;
  for (std::int32_t c = 0; c < at.child_count; ++c) result.push_back(at.first_child + c);
  return result;
}

std::vector<std::int32_t> SearchTree::best_path() const {
  if (vertices.empty()) return {};
  std::vector<std::int32_t> path = {0};
  for (;;) {
    std::int32_t best = -1;
    for (std::int32_t child : children(path.back()))
      if (best < 0 || vertices[static_cast<std::size_t>(child)].visits >
                          vertices[static_cast<std::size_t>(best)].visits)
        best = child;
    if (best < 0) return path;
    path.push_back(best);
  }
}

std::string serialise(const SearchTree& tree) {
  Writer out;
  out.raw(kMagic);
  out.put(kVersion);
  out.put(tree.problem.high);
  out.put(tree.problem.low);
  out.put(tree.iterations);
  out.put(tree.seed);
  out.count(tree.random_state.size());
  out.raw(tree.random_state);
  out.count(tree.actions.size());
  for (const Decision& decision : tree.actions) {
    out.put(static_cast<std::uint8_t>(decision.mode));
    out.count(decision.devices.size());
    for (const DeviceShare& share : decision.devices) {
      out.put(share.device.value());
      out.put(share.weight);
    }
  }
  out.count(tree.order.size());
  for (GroupId group : tree.order) out.put(group.value());
  out.count(tree.vertices.size());
  for (const SearchTree::Vertex& vertex : tree.vertices) write_vertex(out, vertex);
  out.count(tree.priors.size());
  for (float prior : tree.priors) out.put(prior);
  return out.take();
}

SearchTree parse_search_tree(std::string_view bytes) {
  Reader in(bytes);
  if (in.raw(kMagic.size()) != kMagic) damaged("it does not begin as a search tree does");
  const auto version = in.get<std::uint32_t>();
  if (version != kVersion)
    throw InputError("", "search tree",
                     "its version is " + std::to_string(version) +
                         ", and this program reads version " + std::to_string(kVersion),
                     "use the program that wrote it");
  SearchTree tree;
  tree.problem.high = in.get<std::uint64_t>();
  tree.problem.low = in.get<std::uint64_t>();
  tree.iterations = in.get<std::int64_t>();
  tree.seed = in.get<std::uint64_t>();
  tree.random_state = in.raw(in.count(1));
  for (std::size_t n = in.count(9); n > 0; --n) tree.actions.push_back(read_decision(in));
  for (std::size_t n = in.count(4); n > 0; --n) {
    const auto group = in.get<std::int32_t>();
    if (group < 0) damaged("an op group is negative");
    tree.order.emplace_back(static_cast<std::size_t>(group));
  }
  for (std::size_t n = in.count(52); n > 0; --n) tree.vertices.push_back(read_vertex(in));
  for (std::size_t n = in.count(4); n > 0; --n) tree.priors.push_back(in.get<float>());
  if (!in.at_end()) damaged("there is something behind its end");
  check(tree);
  return tree;
}

}  // namespace strato
