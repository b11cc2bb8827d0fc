#include "core/trace/read/execution_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/trace/read/group_text.h"
#include "core/trace/read/trace_builder.h"
#include "core/trace/text/record_reader.h"

namespace strato::trace {
namespace {

// Nothing where the text is no JSON: it was too long to be kept.
std::optional<JsonView> parsed(std::string_view text) {
  try {
    return JsonView::parse(text, "node");
  } catch (const InputError&) {
    return std::nullopt;
  }
}

using Attributes = std::map<std::string, std::string>;

Attributes attributes_of(const Record& record) {
  Attributes attributes;
  const auto list = parsed(record.text("attrs").value_or("[]"));
  if (!list || !list->is_array()) return attributes;
  for (const JsonView& each : list->items()) {
    if (!each.is_object()) continue;
    const auto name = each.find("name"), value = each.find("value");
    if (name && value && name->is_string())
      attributes[name->string()] = value->is_string() ? value->string() : json_text(value->json());
  }
  return attributes;
}

std::int64_t integer_of(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? 0 : whole_number(found->second).value_or(0);
}

std::string text_of(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

// A tensor is [id, storage, offset, elements, bytes of an element, device]; there may be lists of
// them.
std::int64_t tensor_bytes(const Json& value) {
  if (!value.is_array()) return 0;
  const bool tensor = value.size() == 6 && value[5].is_string() && value[3].is_number_integer() &&
                      value[4].is_number_integer();
  constexpr std::int64_t most = std::int64_t{1} << 33;
  if (tensor) {
    const auto elements = value[3].get<std::int64_t>(), bytes = value[4].get<std::int64_t>();
    return elements < 0 || elements > most || bytes < 0 || bytes > 16 ? 0 : elements * bytes;
  }
  std::int64_t sum = 0;
  for (const Json& each : value) sum = std::min(sum + tensor_bytes(each), most * 16);
  return sum;
}

class NodeReader {
 public:
  NodeReader(std::string file, const std::stop_token& stop)
      : builder_(std::move(file), Format::ExecutionTrace, stop) {
    builder_.trace().timed = false;
    lane_ = builder_.lane(false, 0, 0);
  }

  void take(std::string_view section, const Record& record) {
    if (section == "nodes")
      take_node(record);
    else if (section == "workload_graph")
      take_chakra_node(record);
  }

  Trace finish(const ReadingEnd& end) {
    const auto nodes = std::ssize(builder_.trace().events);
    if (nodes == 0)
      throw InputError(builder_.trace().file, "", "has no nodes", "record the run again");
    if (!end.whole)
      builder_.remark(fmt::format("The file {}; {} before that {} used.",
                                  end.cut_short ? "ends too soon" : "is not valid JSON to its end",
                                  counted(nodes, "node"), nodes == 1 ? "was" : "were"));
    return builder_.finish();
  }

 private:
  void take_node(const Record& record) {
    const std::string_view name = record.text("name").value_or("");
    if (name == "## process_group:init ##") return take_groups(record);
    Event event = next_event(name);
    event.kind = EventKind::Operator;
    if (name == "record_param_comms") {
      event.call = call_of(record);
      if (!event.call.valid()) return;  // "init", "wait"
    }
    builder_.add(event);
  }

  Event next_event(std::string_view name) {
    Event event;
    event.name = builder_.trace().names.add(name);
    event.lane = lane_;
    event.start = Nanos(std::ssize(builder_.trace().events));
    return event;
  }

  void take_groups(const Record& record) {
    const auto values = parsed(inputs_of(record));
    if (!values || !values->is_array()) return;
    for (const JsonView& each : values->items())
      if (each.is_string())
        for (const Group& group : groups_of_configuration(each.string())) builder_.group(group);
  }

  static std::string_view inputs_of(const Record& record) {
    const auto newer = record.text("inputs.values");
    return newer ? *newer : record.text("inputs").value_or("[]");
  }

  CallId call_of(const Record& record) {
    const Attributes attributes = attributes_of(record);
    Call call;
    call.collective = collective_of(text_of(attributes, "collective_name"));
    const std::int64_t bytes = element_bytes(text_of(attributes, "dtype"));
    call.sent = Bytes(bounded(integer_of(attributes, "in_msg_nelems")) * bytes);
    call.received = Bytes(bounded(integer_of(attributes, "out_msg_nelems")) * bytes);
    call.group = group_of(attributes);
    if (call.collective == Collective::Unknown) read_inputs(record, call);
    return call.collective == Collective::Unknown ? CallId() : add(call);
  }

  static std::int64_t bounded(std::int64_t count) {
    return std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 33);
  }

  CallId add(const Call& call) {
    auto& calls = builder_.trace().calls;
    calls.push_back(call);
    return CallId(calls.size() - 1);
  }

  GroupId group_of(const Attributes& attributes) {
    if (!attributes.contains("pg_name")) return GroupId();
    Group group;
    group.name = text_of(attributes, "pg_name");
    group.description = text_of(attributes, "pg_desc");
    group.size = bounded(integer_of(attributes, "pg_size"));
    group.ranks = strided_ranks(integer_of(attributes, "global_rank_start"),
                                integer_of(attributes, "global_rank_stride"), group.size);
    return builder_.group(group);
  }

  // Older schemas: [tensors, number, communicator, rank, "all_gather", ...].
  static void read_inputs(const Record& record, Call& call) {
    const auto values = parsed(inputs_of(record));
    if (!values || !values->is_array()) return;
    for (const JsonView& each : values->items()) {
      if (each.is_string() && call.collective == Collective::Unknown)
        call.collective = collective_of(each.string());
      else if (each.is_array() && call.sent == Bytes(0))
        call.sent = Bytes(tensor_bytes(each.json()));
    }
  }

  void take_chakra_node(const Record& record) {
    builder_.trace().format = Format::Chakra;
    const std::string_view name = record.text("Name").value_or(record.text("name").value_or(""));
    Event event = next_event(name);
    event.kind = record.text("is_cpu_op") == "false" ? EventKind::Kernel : EventKind::Operator;
    event.duration = record.microseconds("runtime").value_or(Nanos(0));
    constexpr std::int64_t first_that_communicates = 5;
    if (record.integer("NodeType").value_or(0) >= first_that_communicates) {
      Call call;
      call.collective = collective_of(name);
      call.sent = Bytes(bounded(record.integer("comm_size").value_or(0)));
      event.call = add(call);
    }
    builder_.add(event);
  }

  TraceBuilder builder_;
  LaneId lane_;
};

}  // namespace

Trace read_execution_trace(const std::filesystem::path& file, const std::stop_token& stop) {
  NodeReader reader(file.string(), stop);
  const ReadingEnd end = read_records(
      file, [&](std::string_view section, const Record& record) { reader.take(section, record); });
  return reader.finish(end);
}

}  // namespace strato::trace
