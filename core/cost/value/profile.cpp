#include "core/cost/value/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>

#include "core/base/error.h"

namespace strato {
namespace {

auto key_of(const OpMeasurement& point) { return point.samples; }
auto key_of(const SizedMeasurement& point) { return point.bytes.value; }
auto key_of(const OpProfile& op) { return std::tie(op.gpu, op.signature); }
auto key_of(const TransferProfile& transfer) { return std::tie(transfer.from, transfer.to); }
auto key_of(const CollectiveProfile& collective) {
  return std::tie(collective.kind, collective.devices);
}
auto key_of(const MemoryMeasurement& point) {
  return std::tie(point.graph, point.gpu, point.batch);
}

constexpr auto kKey = [](const auto& entry) { return key_of(entry); };

template <class Point>
Point pooled(std::span<const Point> points) {
  Point result = points.front();
  if (points.size() == 1) return result;
  double weight = 0, sum = 0, square = 0;
  std::int64_t repetitions = 0;
  for (const Point& point : points) {
    const auto count = static_cast<double>(point.repetitions);
    weight += count;
    sum += count * static_cast<double>(point.time.value);
    repetitions += point.repetitions;
  }
  const double time = sum / weight;
  for (const Point& point : points) {
    const auto spread = static_cast<double>(point.spread.value);
    const double away = static_cast<double>(point.time.value) - time;
    square += static_cast<double>(point.repetitions) * (spread * spread + away * away);
  }
  result.time = Nanos(std::max<std::int64_t>(std::llround(time), 1));
  result.spread = Nanos(std::llround(std::sqrt(square / weight)));
  result.repetitions = repetitions;
  return result;
}

// Sorts `points` and pools those of the same size, in an order that does not depend on theirs.
template <class Point>
void pool(std::vector<Point>& points) {
  std::ranges::sort(points, {}, [](const Point& point) {
    return std::make_tuple(key_of(point), point.time, point.spread, point.repetitions);
  });
  std::size_t kept = 0;
  for (std::size_t first = 0, last = 0; first < points.size(); first = last) {
    while (last < points.size() && key_of(points[last]) == key_of(points[first])) ++last;
    points[kept++] = pooled(std::span<const Point>(points).subspan(first, last - first));
  }
  points.resize(kept);
}

template <class Entry>
void append(std::vector<Entry>& to, const std::vector<Entry>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Sorts `entries`, joins those of the same key and pools their measurements.
template <class Entry>
void join(std::vector<Entry>& entries) {
  std::ranges::stable_sort(entries, {}, kKey);
  std::vector<Entry> result;
  for (Entry& entry : entries)
    if (!result.empty() && key_of(result.back()) == key_of(entry))
      append(result.back().measurements, entry.measurements);
    else
      result.push_back(std::move(entry));
  for (Entry& entry : result) pool(entry.measurements);
  entries = std::move(result);
}

void keep_greatest(std::vector<MemoryMeasurement>& memory) {
  std::ranges::sort(memory, {}, [](const MemoryMeasurement& point) {
    return std::make_tuple(key_of(point), -point.peak.value);
  });
  const auto same = std::ranges::unique(memory, {}, kKey);
  memory.erase(same.begin(), same.end());
}

std::string both(const std::string& a, const std::string& b) {
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  return std::min(a, b) + " + " + std::max(a, b);
}

// Leaves `keep` of the repetitions of what `recent` has too.
template <class Entry>
void fade(std::vector<Entry>& known, const std::vector<Entry>& recent, double keep) {
  for (Entry& entry : known) {
    const auto twin = std::ranges::lower_bound(recent, key_of(entry), {}, kKey);
    if (twin == recent.end() || key_of(*twin) != key_of(entry)) continue;
    for (auto& point : entry.measurements) {
      if (!std::ranges::binary_search(twin->measurements, key_of(point), {}, kKey)) continue;
      const double left = keep * static_cast<double>(point.repetitions);
      point.repetitions = std::max<std::int64_t>(std::llround(left), 1);
    }
  }
}

template <class Point>
void hash(Hasher& hasher, const std::vector<Point>& points) {
  hasher.number(points.size());
  for (const Point& point : points)
    hasher.number(key_of(point))
        .number(point.time.value)
        .number(point.spread.value)
        .number(point.repetitions);
}

// Attributes that the tensors' types and shapes repeat, or that do not change the work. Some hold
// the batch size ("shape", "ends"), which must not be in a signature.
constexpr std::array<std::string_view, 13> kRepeated = {
    "dtype", "ends",  "keepdims", "num_outputs", "output_shape", "output_sizes", "repeats",
    "seed",  "shape", "split",    "starts",      "to",           "value_ints"};

// Signatures are keys in text files: printable ASCII without the marks of their own syntax.
void append_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    const bool plain = c > ' ' && c < 127 && std::string_view("{}()[]\"\\").find(c) == text.npos;
    out += plain ? c : '_';
  }
}

bool append_value(std::string& out, const Attribute& attribute) {
  if (const auto* number = std::get_if<std::int64_t>(&attribute))
    out += fmt::to_string(*number);
  else if (const auto* text = std::get_if<std::string>(&attribute))
    append_text(out, *text);
  else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute))
    out += fmt::format("{}", fmt::join(*list, "x"));
  else
    return false;  // real-valued
  return true;
}

std::string attributes_text(const Op& op) {
  std::vector<std::string> list;
  for (const auto& [name, value] : op.attributes) {
    if (std::ranges::binary_search(kRepeated, name)) continue;
    std::string text;
    append_text(text, name);
    text += '=';
    if (append_value(text, value)) list.push_back(std::move(text));
  }
  return list.empty() ? "" : fmt::format("{{{}}}", fmt::join(list, ","));
}

std::string tensor_text(const Tensor& tensor, std::int64_t batch) {
  std::vector<std::string> extents;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::int64_t extent = tensor.shape[axis];
    const bool carries = tensor.batch.kind == BatchKind::Batched &&
                         static_cast<std::size_t>(tensor.batch.axis) == axis && extent % batch == 0;
    if (!carries)
      extents.push_back(fmt::to_string(extent));
    else
      extents.push_back(extent == batch ? "B" : fmt::format("{}*B", extent / batch));
  }
  return fmt::format("{}[{}]", name_of(tensor.type), fmt::join(extents, ","));
}

std::string tensors_text(const Graph& graph, const std::vector<TensorId>& tensors) {
  std::vector<std::string> texts;
  for (const TensorId id : tensors)
    texts.push_back(
        id.valid() ? tensor_text(graph.tensor(id), std::max<std::int64_t>(graph.batch(), 1)) : "-");
  return fmt::format("({})", fmt::join(texts, ","));
}

}  // namespace

bool Profile::empty() const {
  return ops.empty() && transfers.empty() && collectives.empty() && memory.empty();
}

Digest Profile::digest() const {
  Hasher hasher;
  hasher.text("profile 1").number(ops.size());
  for (const OpProfile& op : ops) hash(hasher.text(op.signature).text(op.gpu), op.measurements);
  hasher.number(transfers.size());
  for (const TransferProfile& transfer : transfers)
    hash(hasher.text(transfer.from).text(transfer.to), transfer.measurements);
  hasher.number(collectives.size());
  for (const CollectiveProfile& collective : collectives) {
    hasher.number(collective.kind).number(collective.devices.size());
    for (const std::string& device : collective.devices) hasher.text(device);
    hash(hasher, collective.measurements);
  }
  hasher.number(memory.size());
  for (const MemoryMeasurement& point : memory)
    hasher.text(point.graph).text(point.gpu).number(point.batch).number(point.peak.value);
  return hasher.finish();
}

Profile normalised(Profile profile) {
  join(profile.ops);
  join(profile.transfers);
  join(profile.collectives);
  keep_greatest(profile.memory);
  return profile;
}

Profile merge(const Profile& a, const Profile& b) {
  Profile all = a;
  all.name = both(a.name, b.name);
  all.host = both(a.host, b.host);
  all.software = both(a.software, b.software);
  append(all.ops, b.ops);
  append(all.transfers, b.transfers);
  append(all.collectives, b.collectives);
  append(all.memory, b.memory);
  return normalised(std::move(all));
}

Profile refit(const Profile& known, const Profile& recent, double keep) {
  CHECK(keep >= 0 && keep <= 1, "a measurement keeps a share of its weight");
  Profile faded = normalised(known);
  const Profile fresh = normalised(recent);
  fade(faded.ops, fresh.ops, keep);
  fade(faded.transfers, fresh.transfers, keep);
  fade(faded.collectives, fresh.collectives, keep);
  return merge(faded, fresh);
}

std::string op_signature(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  std::string result;
  append_text(result, op.type);
  return fmt::format("{}{}{}->{}", result, attributes_text(op), tensors_text(graph, op.inputs),
                     tensors_text(graph, op.outputs));
}

bool follows_batch(const Graph& graph, OpId id) {
  const auto carries = [&](TensorId tensor) {
    return tensor.valid() && graph.tensor(tensor).batch.kind == BatchKind::Batched;
  };
  const Op& op = graph.op(id);
  return std::ranges::any_of(op.inputs, carries) || std::ranges::any_of(op.outputs, carries);
}

}  // namespace strato
