// Little endian:
//   "STRATREE" u32 version, digest (2 x u64), i64 iterations, u64 seed,
//   state (legacy_tree_state.cpp),
//   actions: count, each decision (u8 mode, count, each (i32 device, i32 weight)),
//   order: count, each i32 group,
//   vertices: count, each (i32 parent, action, depth, visits, first_child, child_count, prior_row,
//                          f64 value_sum, f32 prior, f32 reward, i64 step_time_ns, f32 weight),
//   priors: count, each f32,
//   pinned: count, each (u8 whether, decision if so), i32 focus,
//   log: count, each (i32 vertex, f32 reward),
//   digest of all bytes before (2 x u64).
// Version 1 has no weights and ends behind the priors. Counts are u64; text is a count and bytes.
// Everything is checked on the way in.
#include "core/search/tree/legacy_tree.h"

#include <bit>
#include <cstring>

namespace strato {
namespace {

constexpr std::string_view kMagic = "STRATREE";
constexpr std::uint32_t kLastVersion = 2;  // the next one is a container
constexpr std::size_t kVertexBytes = 56, kVertexBytesOfVersion1 = 52;
constexpr std::size_t kDigestBytes = 16;
static_assert(std::endian::native == std::endian::little,
              "serialised values are copied as they are");
static_assert(sizeof(SearchTree::BackUp) == 8, "the log is copied as it is");

class LegacyReader {
 public:
  explicit LegacyReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  // Refuses counts that the rest cannot hold, so that nothing huge is ever allocated.
  std::size_t count(std::size_t bytes_each) {
    const auto n = get<std::uint64_t>();
    if (n > rest_.size() / bytes_each) damaged_tree("a count is larger than the data");
    return static_cast<std::size_t>(n);
  }
  template <class T>
  std::vector<T> array() {
    std::vector<T> values(count(sizeof(T)));
    const std::string_view bytes = raw(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) damaged_tree("it ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

SearchTree::Vertex read_vertex(LegacyReader& in, std::uint32_t version) {
  SearchTree::Vertex v;
  for (std::int32_t* n :
       {&v.parent, &v.action, &v.depth, &v.visits, &v.first_child, &v.child_count, &v.prior_row})
    *n = in.get<std::int32_t>();
  v.value_sum = in.get<double>();
  v.prior = in.get<float>();
  v.reward = in.get<float>();
  v.step_time_ns = in.get<std::int64_t>();
  if (version > 1) v.weight = in.get<float>();
  return v;
}

DeviceShare read_share(LegacyReader& in) {
  const auto device = in.get<std::int32_t>();
  return {DeviceId(static_cast<std::size_t>(device)), in.get<std::int32_t>()};
}

Decision read_decision(LegacyReader& in) {
  Decision decision;
  decision.mode = static_cast<Mode>(in.get<std::uint8_t>());
  for (std::size_t n = in.count(8); n > 0; --n) decision.devices.push_back(read_share(in));
  check_decision(decision);
  return decision;
}

Digest read_digest(LegacyReader& in) {
  const auto high = in.get<std::uint64_t>();
  return {high, in.get<std::uint64_t>()};
}

void read_steering(LegacyReader& in, SearchTree& tree) {
  tree.pinned.resize(in.count(1));
  for (auto& pin : tree.pinned) {
    const auto whether = in.get<std::uint8_t>();
    if (whether > 1) damaged_tree("a pin is neither there nor not");
    if (whether == 1) pin = read_decision(in);
  }
  tree.focus = in.get<std::int32_t>();
}

// The bytes before the checksum that ends them.
std::string_view checked(std::string_view bytes) {
  if (bytes.size() < kDigestBytes) damaged_tree("it ends too early");
  const std::string_view content = bytes.substr(0, bytes.size() - kDigestBytes);
  LegacyReader end(bytes.substr(content.size()));
  if (digest_of(content) != read_digest(end))
    damaged_tree("its checksum is wrong, or it was cut off");
  return content;
}

}  // namespace

std::optional<SearchTree> read_legacy_tree(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  const auto version = LegacyReader(bytes.substr(kMagic.size())).get<std::uint32_t>();
  if (version < 1 || version > kLastVersion) damaged_tree("its version was never written so");
  LegacyReader in(version > 1 ? checked(bytes) : bytes);
  in.raw(kMagic.size() + sizeof version);
  SearchTree tree;
  tree.problem = read_digest(in);
  tree.iterations = in.get<std::int64_t>();
  tree.seed = in.get<std::uint64_t>();
  const std::string_view state = in.raw(in.count(1));
  for (std::size_t n = in.count(9); n > 0; --n) tree.actions.push_back(read_decision(in));
  for (const std::int32_t group : in.array<std::int32_t>())
    tree.order.emplace_back(static_cast<std::size_t>(group));
  tree.vertices.resize(in.count(version > 1 ? kVertexBytes : kVertexBytesOfVersion1));
  for (SearchTree::Vertex& vertex : tree.vertices) vertex = read_vertex(in, version);
  tree.priors = in.array<float>();
  if (version > 1) {
    read_steering(in, tree);
    tree.log = in.array<SearchTree::BackUp>();
  }
  if (!in.at_end()) damaged_tree("there is something behind its end");
  check_tree(tree);
  read_legacy_state(state, tree);
  return tree;
}

}  // namespace strato
