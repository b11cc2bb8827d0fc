#include "plugins/transports/nccl/message.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/error.h"

namespace strato::nccl_transport {
namespace {

bool on_host(const std::byte* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return true;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

}  // namespace

Message::Message(Connections& connections, const Channel& channel)
    : connections_(connections), channel_(channel) {
  connections_.on_gpu();
  if (cudaEventCreateWithFlags(&done_, cudaEventDisableTiming) != cudaSuccess)
    throw std::bad_alloc();
}
Message::~Message() { cudaEventDestroy(done_); }

void Message::send(int to, Bytes bytes) {
  std::byte* data = reachable(bytes, false);
  start([&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclSend(data, bytes.size(), ncclInt8, place_of(to), communicator, stream);
  });
}

void Message::receive(int from, Bytes bytes) {
  std::byte* data = reachable(bytes, true);
  start([&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclRecv(data, bytes.size(), ncclInt8, place_of(from), communicator, stream);
  });
}

std::byte* Message::reachable(Bytes bytes, bool filled) {
  if (bytes.empty() || !on_host(bytes.data())) return bytes.data();
  std::byte* copy = nullptr;
  if (cudaMallocHost(&copy, bytes.size()) != cudaSuccess) throw std::bad_alloc();
  pinned_.push_back({std::unique_ptr<std::byte, FreePinned>(copy), bytes, filled});
  std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

void Message::start(const Connections::Calls& calls) { connections_.start(channel_, calls, done_); }

void Message::wait() {
  connections_.on_gpu();
  connections_.wait(channel_, done_);
  for (const Pinned& each : pinned_) {
    if (each.filled) std::memcpy(each.original.data(), each.copy.get(), each.original.size());
  }
}

int Message::place_of(int rank) const {
  const auto found = std::find(channel_.members.begin(), channel_.members.end(), rank);
  CHECK(found != channel_.members.end(), "a transfer to a rank that the channel does not reach");
  return static_cast<int>(found - channel_.members.begin());
}

}  // namespace strato::nccl_transport
