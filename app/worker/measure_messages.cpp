#include "app/worker/measure_messages.h"

#include <span>

#include "app/worker/bytes.h"
#include "app/worker/communicator.h"

namespace strato::worker {
namespace {

constexpr std::uint32_t kCommandTag = 0x7fff'ffd0;  // no task has them
constexpr std::uint32_t kSizeTag = 0x7fff'ffd1;
constexpr std::uint32_t kTextTag = 0x7fff'ffd2;
constexpr std::int64_t kMostText = std::int64_t{1} << 30;

template <class T>
std::span<std::byte> bytes_in(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

void put_text(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}
std::string take_text(Taker& in) { return std::string(in.take(in.take<std::uint64_t>())); }

}  // namespace

void send_command(Transport& transport, int to, MeasureCommand command) {
  on_transport([&] { transport.send(to, kCommandTag, bytes_in(command))->wait(); });
}

MeasureCommand receive_command(Transport& transport) {
  MeasureCommand command;
  on_transport([&] { transport.receive(0, kCommandTag, bytes_in(command))->wait(); });
  return command;
}

void send_text(Transport& transport, int to, std::string text) {
  auto size = static_cast<std::int64_t>(text.size());
  on_transport([&] {
    transport.send(to, kSizeTag, bytes_in(size))->wait();
    transport.send(to, kTextTag, std::as_writable_bytes(std::span(text)))->wait();
  });
}

std::string receive_text(Transport& transport, int from) {
  std::int64_t size = 0;
  on_transport([&] { transport.receive(from, kSizeTag, bytes_in(size))->wait(); });
  if (size < 0 || size > kMostText)
    throw InputError("", "", "rank " + std::to_string(from) + " sends a text without end",
                     "run the job again");
  std::string text(static_cast<std::size_t>(size), '\0');
  on_transport(
      [&] { transport.receive(from, kTextTag, std::as_writable_bytes(std::span(text)))->wait(); });
  return text;
}

std::string pack(const OpsReply& reply) {
  std::string out;
  put_text(out, reply.problem);
  put(out, reply.measured.step);
  put(out, static_cast<std::uint64_t>(reply.measured.ops.size()));
  for (const OpTime& op : reply.measured.ops) {
    put_text(out, op.signature);
    put(out, op.follows_batch);
    put(out, op.ops);
    put(out, op.measurement);
  }
  return out;
}

OpsReply unpack_ops(const std::string& text) {
  Taker in(text, "measured ops");
  OpsReply reply;
  reply.problem = take_text(in);
  reply.measured.step = in.take<ProfiledStep>();
  const auto count = in.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    OpTime op;
    op.signature = take_text(in);
    op.follows_batch = in.take<bool>();
    op.ops = in.take<std::int64_t>();
    op.measurement = in.take<OpMeasurement>();
    reply.measured.ops.push_back(std::move(op));
  }
  return reply;
}

std::string pack(const std::vector<SizedMeasurement>& points) {
  std::string out;
  for (const SizedMeasurement& point : points) put(out, point);
  return out;
}

std::vector<SizedMeasurement> unpack_points(const std::string& text) {
  Taker in(text, "measured messages");
  std::vector<SizedMeasurement> points;
  while (!in.empty()) points.push_back(in.take<SizedMeasurement>());
  return points;
}

std::string pack(const MeasureGreeting& greeting) {
  std::string out;
  for (const std::string* text :
       {&greeting.version, &greeting.digest, &greeting.host, &greeting.hardware})
    put_text(out, *text);
  put(out, greeting.memory);
  put(out, greeting.largest);
  return out;
}

MeasureGreeting unpack_greeting(const std::string& text) {
  Taker in(text, "greeting");
  MeasureGreeting greeting;
  for (std::string* each :
       {&greeting.version, &greeting.digest, &greeting.host, &greeting.hardware})
    *each = take_text(in);
  greeting.memory = in.take<Bytes>();
  greeting.largest = in.take<Bytes>();
  return greeting;
}

}  // namespace strato::worker
