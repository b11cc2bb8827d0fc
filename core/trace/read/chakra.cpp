#include "core/trace/read/chakra.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/trace/read/trace_builder.h"

namespace strato::trace {
namespace {

// Messages are read field by field, so that none of this schema is registered in the process.
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// A field's value: a number (fixed ones by their bits), or bytes.
struct Value {
  std::uint64_t number = 0;
  std::string_view bytes;
};

// Reads one value; false: it is damaged.
bool read_value(CodedInputStream& stream, std::string_view all, std::uint32_t tag, Value& value) {
  std::uint32_t small = 0;
  switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT:
      return stream.ReadVarint64(&value.number);
    case WireFormatLite::WIRETYPE_FIXED64:
      return stream.ReadLittleEndian64(&value.number);
    case WireFormatLite::WIRETYPE_FIXED32:
      if (!stream.ReadLittleEndian32(&small)) return false;
      value.number = small;
      return true;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      if (!stream.ReadVarint32(&small)) return false;
      const auto at = static_cast<std::size_t>(stream.CurrentPosition());
      if (small > all.size() - at) return false;
      value.bytes = all.substr(at, small);
      return stream.Skip(static_cast<int>(small));
    }
    default:
      return false;
  }
}

// Calls take(field, value) for every field of a message; false: it is damaged.
template <class Take>
bool each_field(std::string_view message, Take take) {
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(message.data()),
                          static_cast<int>(message.size()));
  while (const std::uint32_t tag = stream.ReadTag()) {
    Value value;
    if (!read_value(stream, message, tag, value)) return false;
    take(WireFormatLite::GetTagFieldNumber(tag), value);
  }
  return stream.CurrentPosition() == static_cast<int>(message.size());
}

// The next message of `rest`, which goes on behind it; nothing when it is cut short.
std::optional<std::string_view> next_message(std::string_view& rest) {
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(rest.data()),
                          static_cast<int>(std::min<std::size_t>(rest.size(), 16)));
  std::uint32_t size = 0;
  if (!stream.ReadVarint32(&size)) return std::nullopt;
  const auto at = static_cast<std::size_t>(stream.CurrentPosition());
  if (size > rest.size() - at || size > INT32_MAX) return std::nullopt;
  const std::string_view message = rest.substr(at, size);
  rest.remove_prefix(at + size);
  return message;
}

struct Attribute {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view text;
};

Attribute attribute_of(std::string_view message) {
  Attribute attribute;
  each_field(message, [&](int field, const Value& value) {
    constexpr int name = 1, string_value = 29;
    if (field == name) attribute.name = value.bytes;
    if (field == string_value) attribute.text = value.bytes;
    // Numbers of all types but real and zigzag ones: what is read here is of these.
    if (field > 2 && field < string_value && value.bytes.empty())
      attribute.number = static_cast<std::int64_t>(value.number);
  });
  return attribute;
}

Collective collective_of_type(std::int64_t type) {
  constexpr std::array<Collective, 10> types = {
      Collective::AllReduce, Collective::Reduce,        Collective::AllGather,
      Collective::Gather,    Collective::Scatter,       Collective::Broadcast,
      Collective::AllToAll,  Collective::ReduceScatter, Collective::ReduceScatter,
      Collective::Barrier};
  return type >= 0 && type < std::ssize(types) ? types[static_cast<std::size_t>(type)]
                                               : Collective::Unknown;
}

class ChakraNodes {
 public:
  ChakraNodes(std::string file, const std::stop_token& stop)
      : builder_(std::move(file), Format::Chakra, stop) {
    builder_.trace().timed = false;
    host_ = builder_.lane(false, 0, 0);
    device_ = builder_.lane(true, 0, 0);
  }

  bool take(std::string_view message) {
    Node node;
    if (!each_field(message,
                    [&](int field, const Value& value) { take_field(node, field, value); }))
      return false;
    add(node);
    return true;
  }

  Trace finish(bool whole) {
    const auto nodes = std::ssize(builder_.trace().events);
    if (nodes == 0)
      throw InputError(builder_.trace().file, "", "has no nodes", "record the run again");
    if (!whole)
      builder_.remark(fmt::format("The file ends inside a node; {} before that {} used.",
                                  counted(nodes, "node"), nodes == 1 ? "was" : "were"));
    return builder_.finish();
  }

 private:
  struct Node {
    std::string_view name;
    std::int64_t type = 0;
    std::uint64_t microseconds = 0;
    std::int64_t nanoseconds = 0;  // our own exporter's
    bool on_host = false;
    std::int64_t collective = -1, bytes = 0;
    std::string_view group;
  };

  static void take_field(Node& node, int field, const Value& value) {
    constexpr int name = 2, type = 3, duration = 7, attribute = 10;
    if (field == name) node.name = value.bytes;
    if (field == type) node.type = static_cast<std::int64_t>(value.number);
    if (field == duration) node.microseconds = value.number;
    if (field != attribute) return;
    const Attribute read = attribute_of(value.bytes);
    if (read.name == "is_cpu_op") node.on_host = read.number != 0;
    if (read.name == "comm_type") node.collective = read.number;
    if (read.name == "comm_size") node.bytes = read.number;
    if (read.name == "duration_ns") node.nanoseconds = read.number;
    if (read.name == "pg_name") node.group = read.text;
  }

  void add(const Node& node) {
    Event event;
    event.name = builder_.trace().names.add(node.name);
    event.kind = node.on_host ? EventKind::Operator : EventKind::Kernel;
    event.lane = node.on_host ? host_ : device_;
    event.start = Nanos(std::ssize(builder_.trace().events));
    constexpr std::uint64_t longest = 1'000'000'000'000;
    event.duration = Nanos(static_cast<std::int64_t>(std::min(node.microseconds, longest)) * 1000);
    if (node.nanoseconds > 0) event.duration = Nanos(node.nanoseconds);
    constexpr std::int64_t send = 5, collective = 7;
    if (node.type >= send && node.type <= collective) event.call = call_of(node);
    builder_.add(event);
  }

  CallId call_of(const Node& node) {
    Call call;
    constexpr std::int64_t collective = 7;
    call.collective =
        node.type == collective ? collective_of_type(node.collective) : Collective::SendReceive;
    if (call.collective == Collective::Unknown) call.collective = collective_of(node.name);
    call.sent = Bytes(std::clamp<std::int64_t>(node.bytes, 0, std::int64_t{1} << 36));
    if (!node.group.empty()) {
      Group group;
      group.name = node.group;
      call.group = builder_.group(group);
    }
    auto& calls = builder_.trace().calls;
    calls.push_back(call);
    return CallId(calls.size() - 1);
  }

  TraceBuilder builder_;
  LaneId host_, device_;
};

// Its first field is the version, or an attribute "schema".
bool is_metadata(std::string_view message) {
  bool known = false;
  const bool whole = each_field(message, [&](int field, const Value& value) {
    const bool version = field == 1 && !value.bytes.empty() && value.bytes.size() < 32 &&
                         std::isdigit(static_cast<unsigned char>(value.bytes[0])) != 0 &&
                         value.bytes.find('.') != std::string_view::npos;
    known = known || version || (field == 2 && attribute_of(value.bytes).name == "schema");
  });
  return whole && known;
}

}  // namespace

bool begins_as_chakra(std::string_view beginning) {
  const auto first = next_message(beginning);
  return first && is_metadata(*first);
}

Trace read_chakra(const std::filesystem::path& file, const std::stop_token& stop) {
  const MappedFile mapped(file, "a Chakra trace");
  std::string_view rest = mapped.bytes();
  next_message(rest);  // the metadata
  ChakraNodes nodes(file.string(), stop);
  bool whole = true;
  while (!rest.empty() && whole) {
    const auto message = next_message(rest);
    whole = message && nodes.take(*message);
  }
  return nodes.finish(whole);
}

}  // namespace strato::trace
