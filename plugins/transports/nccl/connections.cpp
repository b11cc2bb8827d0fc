#include "plugins/transports/nccl/connections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace strato::nccl_transport {
namespace {

using namespace std::chrono_literals;

constexpr auto kLeaveTime = 2s;
constexpr auto kSpinTime = 200us;  // until a thread that waits sleeps between two looks
constexpr auto kSleepTime = 20us;
constexpr auto kCareTime = 20ms;  // between two looks at whether all is well

ncclConfig_t in_background() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

bool on_host(const std::byte* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return true;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

}  // namespace

Connections::Connections(const Meeting& meeting) : meeting_(meeting) {
  check(cudaGetDevice(&gpu_));
  on_gpu();
  meeting_.idle = {};
  try {
    meet();
    for (int round = 0; round < round_count(meeting_.ranks); ++round)
      for (const bool upwards : {true, false}) make_channels(round, upwards);
    meeting_.idle = meeting.idle;
  } catch (...) {
    abort_all();
    throw;
  }
}

// All ranks are done before any of them takes its memory from under the others; so nothing is under
// way, and the communicators need no farewell of their own.
Connections::~Connections() {
  if (!failed_) watch_->leave(kLeaveTime);
  cudaSetDevice(gpu_);
  abort_all();
  for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void Connections::on_gpu() const { check(cudaSetDevice(gpu_)); }

void Connections::meet() {
  admission::Roster roster = admission::admit(meeting_);
  const std::string interface = interface_with(roster.address);
  if (!interface.empty()) ::setenv("NCCL_SOCKET_IFNAME", ("=" + interface).c_str(), 0);

  ncclUniqueId id{};
  if (meeting_.rank == 0) id = fresh_id();
  const std::string own(id.internal, meeting_.rank == 0 ? sizeof id.internal : 0);
  const std::string known = admission::exchange(meeting_, roster, own).at(0);
  CHECK(known.size() == sizeof id.internal, "rank 0 sent something else than an id of NCCL's");
  std::memcpy(id.internal, known.data(), known.size());

  watch_ = std::make_unique<admission::Watch>(meeting_, std::move(roster.connections));
  world_.members.resize(static_cast<std::size_t>(meeting_.ranks));
  std::iota(world_.members.begin(), world_.members.end(), 0);
  world_.communicator = join(id, meeting_.rank, meeting_.ranks);
  world_.stream = make_stream();
}

// Every rank takes part, also one that meets nobody in this round.
void Connections::make_channels(int round, bool upwards) {
  const int partner = partner_in(round, meeting_.rank, meeting_.ranks);
  int blocks = 0;
  check(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, gpu_));
  ncclConfig_t config = in_background();
  config.maxCTAs = blocks_of_channel(meeting_.ranks, blocks);
  const int color = partner < 0 ? NCCL_SPLIT_NOCOLOR : std::min(partner, meeting_.rank);
  ncclComm_t split = nullptr;
  settle(world_.communicator,
         ncclCommSplit(world_.communicator, color, meeting_.rank, &split, &config), world_.members);
  if (partner < 0) return;
  CHECK(split != nullptr, "NCCL has split off nothing");
  communicators_.push_back(split);
  Channel channel{split, make_stream(), {meeting_.rank, partner}};
  std::sort(channel.members.begin(), channel.members.end());
  settle(split, ncclInProgress, channel.members);
  const bool sends = upwards == (meeting_.rank < partner);
  (sends ? to_ : from_).emplace(partner, std::move(channel));
  std::byte byte{};
  transfer(partner, {&byte, 1}, sends);  // so that it is connected, and the kernel loaded
}

void Connections::transfer(int peer, std::span<std::byte> bytes, bool sends) {
  Message message(*this, sends ? to(peer) : from(peer));
  message.transfer(peer, bytes, sends);
  message.wait();
}

const Channel& Connections::group(std::span<const int> members, Stream stream) {
  const bool in_row = stream == Stream::TensorCommunication;
  if (!in_row && members.size() == world_.members.size()) return world_;
  std::pair key(stream, std::vector<int>(members.begin(), members.end()));
  const auto known = groups_.find(key);
  if (known != groups_.end()) return known->second;
  const auto place = std::ranges::find(members, meeting_.rank) - members.begin();
  const ncclUniqueId id = id_of_group(members);
  if (in_row && tensor_stream_ == nullptr) tensor_stream_ = make_stream();
  Channel channel{join(id, static_cast<int>(place), static_cast<int>(members.size())),
                  in_row ? tensor_stream_ : world_.stream, key.second};
  return groups_.emplace(std::move(key), std::move(channel)).first->second;
}

ncclUniqueId Connections::id_of_group(std::span<const int> members) {
  ncclUniqueId id{};
  const auto bytes = std::as_writable_bytes(std::span(id.internal));
  if (members[0] != meeting_.rank) {
    transfer(members[0], bytes, false);
    return id;
  }
  id = fresh_id();
  for (const int other : members.subspan(1)) transfer(other, bytes, true);
  return id;
}

ncclUniqueId Connections::fresh_id() {
  ncclUniqueId id{};
  check(ncclGetUniqueId(&id), {});
  return id;
}

ncclComm_t Connections::join(const ncclUniqueId& id, int place, int members) {
  const std::lock_guard lock(mutex_);
  ncclConfig_t config = in_background();
  ncclComm_t joined = nullptr;
  const ncclResult_t status = ncclCommInitRankConfig(&joined, members, id, place, &config);
  if (joined != nullptr) communicators_.push_back(joined);
  settle(joined, status, world_.members);
  return joined;
}

// Aborting takes the mutex, too; so what waits here looks whether something has failed meanwhile.
void Connections::settle(ncclComm_t communicator, ncclResult_t status,
                         std::span<const int> members) {
  const auto end = Time::now() + meeting_.patience();
  while (status == ncclInProgress) {
    if (failed_ || Time::now() > end) fail(members, "");
    if (watch_ != nullptr && watch_->lost()) fail(members, "");
    std::this_thread::sleep_for(kSleepTime);
    ncclResult_t now = ncclSuccess;
    check(ncclCommGetAsyncError(communicator, &now), members);
    status = now;
  }
  check(status, members);
}

void Connections::start(const Channel& channel, const Calls& calls, cudaEvent_t done) {
  const std::lock_guard lock(mutex_);
  if (failed_) fail(channel.members, "");
  check(ncclGroupStart(), channel.members);
  const ncclResult_t called = calls(channel.communicator, channel.stream);
  const ncclResult_t ended = ncclGroupEnd();
  if (called != ncclSuccess && called != ncclInProgress) check(called, channel.members);
  settle(channel.communicator, ended, channel.members);
  check(cudaEventRecord(done, channel.stream));
}

void Connections::wait(const Channel& channel, cudaEvent_t done) {
  const auto begin = Time::now();
  auto cared = begin;
  for (;;) {
    const cudaError_t status = cudaEventQuery(done);
    if (failed_) fail(channel.members, "");  // what was aborted looks done
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) fail(channel.members, cudaGetErrorString(status));
    const auto now = Time::now();
    if (now - begin > meeting_.patience()) fail(channel.members, "");
    if (now - cared > kCareTime) {
      look_after(channel);
      cared = now;
    }
    if (now - begin > kSpinTime) std::this_thread::sleep_for(kSleepTime);
  }
}

// The mutex: a communicator may be aborted by another thread.
void Connections::look_after(const Channel& channel) {
  if (watch_->lost()) fail(channel.members, "");
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || failed_) return;
  ncclResult_t status = ncclSuccess;
  if (ncclCommGetAsyncError(channel.communicator, &status) != ncclSuccess ||
      (status != ncclSuccess && status != ncclInProgress)) {
    fail(channel.members, ncclGetErrorString(status));
  }
}

cudaStream_t Connections::make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  streams_.push_back(stream);
  return stream;
}

void Connections::check(ncclResult_t status, std::span<const int> members) {
  if (status == ncclSuccess || status == ncclInProgress) return;
  const char* detail = ncclGetLastError(world_.communicator);
  fail(members, fmt::format("{}{}{}", ncclGetErrorString(status),
                            detail == nullptr || *detail == '\0' ? "" : ": ",
                            detail == nullptr ? "" : detail));
}

void Connections::check(cudaError_t status) const {
  if (status == cudaSuccess) return;
  admission::refuse(meeting_,
                    fmt::format("the GPU cannot be used ({})", cudaGetErrorString(status)),
                    "take --transport gloo where there is none");
}

// A rank that died explains what NCCL or CUDA say about it.
void Connections::fail(std::span<const int> members, const std::string& reason) {
  failed_ = true;
  abort_all();
  constexpr auto kNewsTime = 500ms;
  const bool died = watch_ != nullptr && watch_->lost(kNewsTime).has_value();
  if (watch_ != nullptr && (died || reason.empty()))
    admission::throw_failure(meeting_, *watch_, members);
  admission::refuse(meeting_,
                    fmt::format("NCCL fails among ranks {} ({})", fmt::join(members, ", "),
                                reason.empty() ? "timeout" : reason),
                    "set NCCL_DEBUG=INFO and see the logs of those ranks");
}

void Connections::abort_all() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(aborted_, true)) return;
  for (const ncclComm_t each : communicators_) ncclCommAbort(each);
}

Message::Message(Connections& connections, const Channel& channel)
    : connections_(connections), channel_(channel) {
  connections_.on_gpu();
  if (cudaEventCreateWithFlags(&done_, cudaEventDisableTiming) != cudaSuccess)
    throw std::bad_alloc();
}
Message::~Message() { cudaEventDestroy(done_); }

void Message::transfer(int peer, Bytes bytes, bool sends) {
  std::byte* data = reachable(bytes, !sends);
  const int place = place_of(peer);
  start([&](ncclComm_t communicator, cudaStream_t stream) {
    return sends ? ncclSend(data, bytes.size(), ncclInt8, place, communicator, stream)
                 : ncclRecv(data, bytes.size(), ncclInt8, place, communicator, stream);
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
