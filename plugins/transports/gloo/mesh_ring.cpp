#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

#include <bit>

#include "core/base/error.h"
#include "plugins/transports/gloo/mesh.h"

namespace strato::gloo_transport {
namespace {

using Bytes = std::span<std::byte>;

template <class T>
void add(void* to, const void* a, const void* b, std::size_t count) {
  T* sum = static_cast<T*>(to);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<T>(left[i] + right[i]);
}

struct BrainFloat {
  std::uint16_t bits = 0;

  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  explicit BrainFloat(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool not_a_number = (wide & 0x7fffffff) > 0x7f800000;
    const std::uint32_t rounded = wide + 0x7fff + ((wide >> 16) & 1);
    bits = static_cast<std::uint16_t>((not_a_number ? wide | 0x400000 : rounded) >> 16);
  }
};

// Each round receives from the member before and sends to the next one. Receiving is prepared for
// all rounds at once, so that no round waits until the receiver has said that it is ready.
class Rounds {
 public:
  explicit Rounds(const Ring& ring) : ring_(ring) {}

  void expect(Bytes bytes) {
    received_.push_back(buffer(bytes));
    if (!bytes.empty()) received_.back()->recv(before(), slot(received_.size() - 1));
  }
  void send(Bytes bytes) {
    sent_.push_back(buffer(bytes));
    if (!bytes.empty()) sent_.back()->send(next(), slot(sent_.size() - 1));
  }
  void await(std::size_t round) {
    if (received_[round] != nullptr) received_[round]->waitRecv(nullptr, ring_.timeout);
  }
  void await_sent() {
    for (const auto& each : sent_) {
      if (each != nullptr) each->waitSend(nullptr, ring_.timeout);
    }
  }

 private:
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

  // Returns nothing for an empty piece, which is not sent.
  Buffer buffer(Bytes bytes) {
    return bytes.empty() ? nullptr : ring_.context.createUnboundBuffer(bytes.data(), bytes.size());
  }
  std::uint64_t slot(std::size_t round) const { return ring_.slot | (round & 0xff); }
  int next() const { return ring_.members[(ring_.own + 1) % ring_.members.size()]; }
  int before() const {
    return ring_.members[(ring_.own + ring_.members.size() - 1) % ring_.members.size()];
  }

  const Ring& ring_;
  std::vector<Buffer> received_, sent_;
};

// The place of the member that stands so many places before this one.
std::size_t back(const Ring& ring, std::size_t places) {
  const std::size_t n = ring.members.size();
  return (ring.own + 2 * n - places) % n;
}

}  // namespace

SumFunction sum_of(DataType type) {
  static const SumFunction kSums[] = {add<double>,        add<float>,
                                      add<gloo::float16>, add<BrainFloat>,
                                      add<std::int64_t>,  add<std::int32_t>,
                                      add<std::int16_t>,  add<std::int8_t>,
                                      add<std::uint8_t>,  nullptr};  // in DataType's order
  const SumFunction& sum = kSums[static_cast<std::size_t>(type)];
  if (sum) return sum;
  throw InputError("", "transport gloo", fmt::format("does not sum {}", name_of(type)),
                   "plan without a reduction of such a tensor");
}

void ring_all_gather(const Ring& ring, std::span<const Bytes> pieces) {
  const std::size_t rounds = ring.members.size() - 1;
  if (rounds == 0) return;
  Rounds at(ring);
  for (std::size_t i = 0; i < rounds; ++i) at.expect(pieces[back(ring, i + 1)]);
  for (std::size_t i = 0; i < rounds; ++i) {
    if (i > 0) at.await(i - 1);
    at.send(pieces[back(ring, i)]);
  }
  at.await(rounds - 1);
  at.await_sent();
}

void ring_reduce_scatter(const Ring& ring, std::span<const Bytes> pieces, const SumFunction& sum,
                         std::size_t element_size) {
  const std::size_t rounds = ring.members.size() - 1;
  std::vector<std::vector<std::byte>> terms;  // sums of the members before, by round
  for (std::size_t i = 0; i < rounds; ++i) terms.emplace_back(pieces[back(ring, i + 2)].size());
  Rounds at(ring);
  for (std::vector<std::byte>& term : terms) at.expect(term);
  for (std::size_t i = 0; i < rounds; ++i) {
    at.send(pieces[back(ring, i + 1)]);
    at.await(i);
    const Bytes piece = pieces[back(ring, i + 2)];
    sum(piece.data(), piece.data(), terms[i].data(), piece.size() / element_size);
  }
  at.await_sent();
}

void swap_pairwise(const Ring& ring, std::span<const Bytes> sent, std::span<const Bytes> received) {
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
  const std::size_t n = ring.members.size();
  std::vector<Buffer> coming, going;
  const auto buffer = [&](Bytes bytes) {
    return ring.context.createUnboundBuffer(bytes.data(), bytes.size());
  };
  for (std::size_t places = 1; places < n; ++places) {
    const std::size_t from = back(ring, places);
    if (received[from].empty()) continue;
    coming.push_back(buffer(received[from]));
    coming.back()->recv(ring.members[from], ring.slot);
  }
  for (std::size_t places = 1; places < n; ++places) {
    const std::size_t to = (ring.own + places) % n;
    if (sent[to].empty()) continue;
    going.push_back(buffer(sent[to]));
    going.back()->send(ring.members[to], ring.slot);
  }
  for (const Buffer& each : coming) each->waitRecv(nullptr, ring.timeout);
  for (const Buffer& each : going) each->waitSend(nullptr, ring.timeout);
}

}  // namespace strato::gloo_transport
