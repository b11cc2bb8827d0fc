// The plugin's entry: transfers and collectives by NCCL, on the GPU that the engine has made
// current. Memory may be the GPU's or the host's; host memory takes a detour through pinned
// buffers.
//
// An operation's inputs are ready when it is called (the engine's run() returns when its kernel is
// done) and its results are there when wait() returns: so no stream waits for another one's events.
#include <nccl.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/transports/nccl/connections.h"

namespace strato::nccl_transport {
namespace {

using admission::Done;
using Bytes = std::span<std::byte>;

// Runs `call` for each piece, in their order, until one fails.
template <class Call>
ncclResult_t each_of(const std::vector<Bytes>& pieces, Call call) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    const ncclResult_t status = call(i);
    if (status != ncclSuccess && status != ncclInProgress) return status;
  }
  return ncclSuccess;
}

class NcclTransport final : public Transport {
 public:
  explicit NcclTransport(const Meeting& meeting) : connections_(meeting) {}

  bool reaches_devices() const override { return true; }

  std::unique_ptr<Pending> send(int to, std::uint32_t, Bytes bytes) override {
    return transfer(connections_.to(to), to, bytes, true);
  }
  std::unique_ptr<Pending> receive(int from, std::uint32_t, Bytes bytes) override {
    return transfer(connections_.from(from), from, bytes, false);
  }

  std::unique_ptr<Pending> all_reduce(const Members& members, std::uint32_t, DataType type,
                                      std::vector<Bytes> values) override {
    const ncclDataType_t element = sum_type_of(type);
    return collective(ascending(members), members.stream, values,
                      [=](const Pieces& data, ncclComm_t communicator, cudaStream_t stream) {
                        return each_of(values, [&](std::size_t i) {
                          return ncclAllReduce(data[i], data[i], count(values[i], type), element,
                                               ncclSum, communicator, stream);
                        });
                      });
  }

  // Pieces may differ in size, which NCCL's own all-gather does not know: each is broadcast.
  std::unique_ptr<Pending> all_gather(const Members& members, std::uint32_t,
                                      std::vector<Bytes> pieces) override {
    CHECK(pieces.size() == members.size(), "one piece a member");
    const std::vector<int> sorted = ascending(members);
    std::vector<int> place;
    for (const int member : members)
      place.push_back(static_cast<int>(std::ranges::lower_bound(sorted, member) - sorted.begin()));
    return collective(sorted, members.stream, pieces,
                      [=](const Pieces& data, ncclComm_t communicator, cudaStream_t stream) {
                        return each_of(pieces, [&](std::size_t i) {
                          return ncclBroadcast(data[i], data[i], pieces[i].size(), ncclInt8,
                                               place[i], communicator, stream);
                        });
                      });
  }

  // Reduces each piece to its member, in the same way as above. The others' terms stay as they are.
  std::unique_ptr<Pending> reduce_scatter(const Members& members, std::uint32_t, DataType type,
                                          std::vector<Bytes> pieces) override {
    CHECK(pieces.size() == members.size(), "one piece a member");
    const ncclDataType_t element = sum_type_of(type);
    return collective(members, members.stream, pieces,
                      [=](const Pieces& data, ncclComm_t communicator, cudaStream_t stream) {
                        return each_of(pieces, [&](std::size_t i) {
                          return ncclReduce(data[i], data[i], count(pieces[i], type), element,
                                            ncclSum, static_cast<int>(i), communicator, stream);
                        });
                      });
  }

  std::unique_ptr<Pending> all_to_all(const Members& members, std::uint32_t,
                                      std::vector<Bytes> sent,
                                      std::vector<Bytes> received) override {
    CHECK(sent.size() == members.size() && received.size() == members.size(), "one piece a member");
    const auto own = static_cast<std::size_t>(
        std::ranges::find(members, connections_.meeting().rank) - members.begin());
    sent[own] = received[own] = {};
    std::vector<Bytes> pieces = sent;
    pieces.insert(pieces.end(), received.begin(), received.end());
    return collective(
        members, members.stream, pieces,
        [=, count = sent.size()](const Pieces& data, ncclComm_t communicator, cudaStream_t stream) {
          return each_of(pieces, [&](std::size_t i) {
            const int peer = static_cast<int>(i % count);
            return i < count
                       ? ncclSend(data[i], pieces[i].size(), ncclInt8, peer, communicator, stream)
                       : ncclRecv(data[i], pieces[i].size(), ncclInt8, peer, communicator, stream);
          });
        });
  }

  void barrier() override {
    std::vector<int> all(static_cast<std::size_t>(connections_.meeting().ranks));
    std::iota(all.begin(), all.end(), 0);
    std::int32_t nothing = 0;
    all_reduce(all, 0, DataType::I32, {std::as_writable_bytes(std::span(&nothing, 1))})->wait();
  }

  std::optional<LostRank> lost() const override { return connections_.lost(); }
  std::vector<std::string> gather(const std::string& text) override {
    return admission::gather_texts(
        connections_.meeting(), text, [this](int peer, Bytes bytes, bool sends) {
          (sends ? send(peer, 0, bytes) : receive(peer, 0, bytes))->wait();
        });
  }

 private:
  using Pieces = std::vector<std::byte*>;

  // NCCL chooses its rings by what it knows of the network: an order of the members that was asked
  // for is not followed, and the sums are the same.
  static std::vector<int> ascending(std::span<const int> members) {
    std::vector<int> sorted(members.begin(), members.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  static std::size_t count(Bytes bytes, DataType type) {
    return bytes.size() / static_cast<std::size_t>(size_of(type));
  }

  std::unique_ptr<Pending> transfer(const Channel& channel, int peer, Bytes bytes, bool sends) {
    if (bytes.empty()) return std::make_unique<Done>();
    auto message = std::make_unique<Message>(connections_, channel);
    message->transfer(peer, bytes, sends);
    return message;
  }

  template <class Body>
  std::unique_ptr<Pending> collective(std::span<const int> members, Stream on,
                                      const std::vector<Bytes>& spans, const Body& body) {
    const bool nothing = std::ranges::all_of(spans, [](Bytes each) { return each.empty(); });
    if (members.size() < 2 || nothing) return std::make_unique<Done>();
    auto message = std::make_unique<Message>(connections_, connections_.group(members, on));
    Pieces data;
    for (const Bytes each : spans) data.push_back(message->reachable(each, true));
    message->start([&](ncclComm_t communicator, cudaStream_t stream) {
      return body(data, communicator, stream);
    });
    return message;
  }

  Connections connections_;
};

}  // namespace
}  // namespace strato::nccl_transport

STRATOSCOPE_TRANSPORT(strato::admission::make_transport<strato::nccl_transport::NcclTransport>)
