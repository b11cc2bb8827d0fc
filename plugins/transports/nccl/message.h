// One operation of NCCL's under way, with what of its memory the GPU cannot reach in pinned
// buffers.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <span>
#include <vector>

#include "plugins/transports/nccl/connections.h"

namespace strato::nccl_transport {

class Message final : public Pending {
 public:
  using Bytes = std::span<std::byte>;

  Message(Connections& connections, const Channel& channel);
  ~Message() override;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void send(int to, Bytes bytes);
  void receive(int from, Bytes bytes);
  // Returns what the GPU is to use in place of `bytes`: the same, or a pinned copy that is copied
  // back by wait() when it is `filled`.
  std::byte* reachable(Bytes bytes, bool filled);
  void start(const Connections::Calls& calls);

  void wait() override;

 private:
  struct FreePinned {
    void operator()(std::byte* data) const { cudaFreeHost(data); }
  };
  struct Pinned {
    std::unique_ptr<std::byte, FreePinned> copy;
    Bytes original;
    bool filled;
  };
  int place_of(int rank) const;  // among the channel's members

  Connections& connections_;
  const Channel& channel_;
  cudaEvent_t done_ = nullptr;
  std::vector<Pinned> pinned_;
};

}  // namespace strato::nccl_transport
