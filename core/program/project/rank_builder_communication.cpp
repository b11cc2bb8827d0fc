#include <utility>

#include "core/program/project/rank_builder.h"
#include "core/program/value/collective.h"

namespace strato {

// Of a parameter that is whole on both sides perhaps just a slice is sent.
void RankBuilder::transfer(const ProgramTask& at) {
  const auto& [tensor, from] = std::pair(at.task().tensor, at.task().device);
  const bool buffered = !at.reads().empty();
  const Part part = buffered ? values_.part_of(at, at.reads().front()) : stated_part(at, tensor);
  Part there = buffered ? part : values_.standing_for(tensor, from, part);
  const bool fits = at.reads().size() <= 1 && (there == part || there.is_whole()) &&
                    (at.writes().empty() || part == program_.part_of(at.writes().front()));
  if (!fits) at.fail(tensor, "\"" + describe(there) + "\" is there, not what is to be sent");
  const ValueId value = values_.find_bytes(at, {tensor, there, from});
  at.expect(value.valid(), tensor, "what is to be sent is not there");
  Instruction what = instruction(at, Kind::Send, part);
  what.peer = at.task().target;
  emit(at, from, what, {&value, 1}, {});
  receive(at, part);
}

void RankBuilder::receive(const ProgramTask& at, const Part& part) {
  const auto& [tensor, target] = std::pair(at.task().tensor, at.task().target);
  ValueId value;
  if (!at.writes().empty())
    value =
        values_.bind(at, at.writes().front(),
                     at.reads().empty() ? Encoding::None : values_.encoding_of(at.reads().front()));
  else
    value = values_.find_resident({tensor, values_.standing_for(tensor, target, part), target});
  at.expect(value.valid(), tensor, "it arrives nowhere");
  Instruction what = instruction(at, Kind::Receive, part);
  what.peer = at.task().device;
  emit(at, target, what, {}, {&value, 1});
}

// Of several gradients that are fused into one message, each is summed up for itself.
void RankBuilder::all_reduce(const ProgramTask& at) {
  const std::vector<DeviceId> members = members_of(program_, at.id);
  const MemberBuffers terms(program_, at.reads()), sums(program_, at.writes());
  struct Gradient {
    TensorId tensor;
    std::vector<Part> terms;
    Part sum;
  };
  std::vector<Gradient> gradients;
  for (const DeviceId member : members) {
    std::vector<ValueId> reads, writes;
    gradients.resize(terms.of(member).size());
    for (const BufferId buffer : terms.of(member)) {
      Gradient& gradient = gradients[reads.size()];
      gradient.tensor = program_.buffers[buffer].tensor;
      gradient.terms.push_back(values_.partial_sum_of(at, buffer));
      gradient.sum = sum_in_place(at, gradient.terms.back());
      reads.push_back(values_.value_of(buffer));
    }
    for (const BufferId buffer : sums.of(member)) {
      if (writes.size() < gradients.size())
        gradients[writes.size()].sum = values_.part_of(at, buffer);
      writes.push_back(values_.bind(at, buffer));
    }
    at.expect(writes.empty() || writes.size() == reads.size(), at.task().tensor,
              "its sum has no place");
    emit(at, member, instruction(at, Kind::AllReduce, program_.part_of(at.task())), reads, writes,
         members);
    if (writes.empty())
      for (const BufferId buffer : terms.of(member))
        values_.change_in_place(buffer, sum_in_place(at, values_.part_of(buffer)));
  }
  if (folded_) return;  // others have what is missing
  for (const Gradient& of : gradients) expect_sum(at, of.tensor, of.terms, of.sum);
}

// By member. Input samples that are resident can be had anywhere: equal parts of them.
std::vector<Part> RankBuilder::gathered_parts(const ProgramTask& at,
                                              std::span<const DeviceId> members) const {
  const TensorId tensor = at.task().tensor;
  const MemberBuffers read(program_, at.reads());
  const AxisRange samples = gathered_range(at, kBatchAxis);
  const std::int64_t count = std::ssize(members);
  const auto cut = [&](std::int64_t i) {
    return samples.begin + static_cast<std::int32_t>(i * samples.size() / count);
  };
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const DeviceId member = members[static_cast<std::size_t>(i)];
    const auto buffers = read.of(member);
    const Part share = program_.cuts_of(at.task()).empty()
                           ? samples_part(*program_.graph, tensor, cut(i), cut(i + 1))
                           : Part();
    parts.push_back(buffers.empty() ? values_.standing_for(tensor, member, share)
                                    : values_.part_of(at, buffers.front()));
  }
  return parts;
}

// What is put together, along an axis.
AxisRange RankBuilder::gathered_range(const ProgramTask& at, int axis) const {
  return range_along(*program_.graph, at.task().tensor, program_.part_of(at.writes().front()),
                     axis);
}

void RankBuilder::all_gather(const ProgramTask& at) {
  if (at.task().encoding != Encoding::None) return gather_records(at);
  const TensorId tensor = at.task().tensor;
  const std::vector<DeviceId> members = members_of(program_, at.id);
  const MemberBuffers written(program_, at.writes());
  const std::vector<Part> parts = gathered_parts(at, members);
  const Part& made = program_.part_of(at.writes().front());
  const int axis =
      at.reads().empty() ? program_.range_of(at.task()).axis : joined_axis(parts.front(), made);
  const AxisRange all = gathered_range(at, axis);
  std::vector<std::int32_t> cuts = {all.begin};
  for (const Part& part : parts) {
    const AxisRange* range = part.along(axis);
    at.expect(range && part.without(axis) == made.without(axis) && !part.is_partial_sum() &&
                  range->begin == cuts.back(),
              tensor, "a member's piece of it is of another kind or out of order");
    cuts.push_back(range->end);
  }
  at.expect(cuts.back() == all.end, tensor, "its pieces are not all of it");
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ValueId from = values_.get(at, {tensor, parts[i], members[i]});
    const ValueId to =
        values_.bind(at, written.one_of(at, members[i], "what is gathered has no place"));
    emit(at, members[i], instruction(at, Kind::AllGather, made), {&from, 1}, {&to, 1}, members,
         cuts);
  }
}

// Every member's records, which are of partial sums.
void RankBuilder::gather_records(const ProgramTask& at) {
  const TensorId tensor = at.task().tensor;
  const std::vector<DeviceId> members = members_of(program_, at.id);
  const MemberBuffers read(program_, at.reads()), written(program_, at.writes());
  constexpr const char* kNotOne = "a member has not one term, encoded as it is said";
  std::vector<std::int32_t> cuts = {0};
  std::vector<Part> terms;
  for (const DeviceId member : members) {
    const BufferId from = read.one_of(at, member, kNotOne);
    at.expect(values_.encoding_of(from) == at.task().encoding, tensor, kNotOne);
    terms.push_back(values_.partial_sum_of(at, from));
    cuts.push_back(cuts.back() + values_.record_count(from));
  }
  expect_sum(at, tensor, terms, terms.front().total());
  for (const DeviceId member : members) {
    const BufferId from = read.of(member).front();
    const ValueId value = values_.value_of(from);
    const ValueId to = values_.bind(at, written.one_of(at, member, "what is gathered has no place"),
                                    at.task().encoding);
    emit(at, member, instruction(at, Kind::AllGather, values_.part_of(from).total()), {&value, 1},
         {&to, 1}, members, cuts);
  }
}

void RankBuilder::reduce_scatter(const ProgramTask& at) {
  const TensorId tensor = at.task().tensor;
  const std::vector<DeviceId> members = members_of(program_, at.id);
  const MemberBuffers read(program_, at.reads()), written(program_, at.writes());
  constexpr const char* kNotOne = "a member has not one term and part";
  const int axis = scattered_axis(program_.part_of(written.one_of(at, members.front(), kNotOne)),
                                  values_.part_of(at, read.one_of(at, members.front(), kNotOne)));
  at.expect(axis >= 0, tensor, "it is not said along which axis it is scattered");
  std::vector<Part> terms;
  const AxisRange whole = range_along(*program_.graph, tensor,
                                      values_.part_of(at, read.of(members.front()).front()), axis);
  std::vector<std::int32_t> cuts = {whole.begin};
  std::vector<Part> parts;
  for (const DeviceId member : members) {
    terms.push_back(values_.partial_sum_of(at, read.one_of(at, member, kNotOne)));
    const BufferId to = written.one_of(at, member, kNotOne);
    parts.push_back(program_.part_of(to));
    const AxisRange* range = parts.back().along(axis);
    at.expect(range && range->begin == cuts.back(), tensor, "its parts are out of order");
    cuts.push_back(range->end);
  }
  expect_sum(at, tensor, terms, with_all_of(axis, parts.front(), terms.front()));
  at.expect(cuts.back() == whole.end, tensor, "its parts are not all of it");
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Part term = values_.part_of(at, read.of(members[i]).front());
    const ValueId from = values_.get(at, {tensor, term, members[i]});
    const ValueId to = values_.bind(at, written.of(members[i]).front());
    emit(at, members[i], instruction(at, Kind::ReduceScatter, parts[i]), {&from, 1}, {&to, 1},
         members, cuts);
  }
}

// Members' parts of what the task names, along one axis before, and along another one after it.
void RankBuilder::all_to_all(const ProgramTask& at) {
  const TensorId tensor = at.task().tensor;
  const Part& all = program_.part_of(at.task());
  const std::vector<DeviceId> members = members_of(program_, at.id);
  const MemberBuffers read(program_, at.reads()), written(program_, at.writes());
  constexpr const char* kNotOne = "a member has not one part before it and one after it";
  std::vector<std::int32_t> cuts;
  // Returns them by member.
  const auto parts_in = [&](const MemberBuffers& of) {
    std::vector<Part> parts;
    for (const DeviceId member : members)
      parts.push_back(values_.part_of(at, of.one_of(at, member, kNotOne)));
    const int axis = joined_axis(parts.front(), all);
    const AxisRange whole = range_along(*program_.graph, tensor, all, axis);
    cuts.push_back(whole.begin);
    for (const Part& part : parts) {
      const AxisRange* range = part.along(axis);
      at.expect(range && range->begin == cuts.back() && part.without(axis) == all.without(axis),
                tensor, "its parts are out of order");
      cuts.push_back(range->end);
    }
    at.expect(cuts.back() == whole.end, tensor, "its parts are not all of it");
    return parts;
  };
  const std::vector<Part> before = parts_in(read);
  parts_in(written);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ValueId from = values_.get(at, {tensor, before[i], members[i]});
    const ValueId to = values_.bind(at, written.of(members[i]).front());
    emit(at, members[i], instruction(at, Kind::AllToAll, all), {&from, 1}, {&to, 1}, members, cuts);
  }
}

// What no buffer holds rests on the host. Copies of one way follow each other: the next one starts
// when the one before has ended, and then what that one read is released.
void RankBuilder::host_copy(const ProgramTask& at) {
  const bool out = at.task().kind == TaskKind::Offload;
  const ValueId from =
      at.reads().empty() ? values_.resident_on_host(at) : values_.value_of(at.reads().front());
  const ValueId to =
      at.writes().empty() ? values_.resident_on_host(at) : values_.bind(at, at.writes().front());
  emit(at, at.task().device,
       instruction(at, out ? Kind::Offload : Kind::Fetch, program_.part_of(at.task())), {&from, 1},
       {&to, 1});
  if (!drafts_.wanted(at.task().device)) return;
  const Placed copy = placed_.back();
  const auto [last, first] = last_copy_.try_emplace({copy.device, out}, copy.index);
  if (!first) drafts_.of(copy.device).need(copy.index, std::exchange(last->second, copy.index));
}

}  // namespace strato
