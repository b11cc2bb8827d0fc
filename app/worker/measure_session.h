// One rank of a measurement job, from the greeting to the profile. Engine and transport are handed
// in.
#pragma once

#include <filesystem>
#include <vector>

#include "app/worker/events.h"
#include "app/worker/guard.h"
#include "app/worker/measure_messages.h"
#include "app/worker/measure_rank.h"
#include "app/worker/message_memory.h"
#include "core/launch/measure/measure_job.h"
#include "core/plugin/api/engine.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

class MeasureSession {
 public:
  struct Parts {
    const StagedMeasureJob& staged;
    int rank = 0;
    std::filesystem::path folder;
    const Engine* engine = nullptr;      // null: the job measures no ops
    RankExecution* execution = nullptr;  // holds the messages on its device; null: the host does
    Transport& transport;
    Events& events;
    Guard* guard = nullptr;
  };
  explicit MeasureSession(const Parts& parts);

  // Rank 0 writes the result into the folder. Throws OtherRankFailure, PeerFailure, or InputError
  // when nothing could be measured; nothing but the end of the process helps then.
  void run();

 private:
  MeasureGreeting greeting();
  void coordinate(std::vector<MeasureGreeting> greetings);
  void name(Profile& profile, const std::vector<MeasureGreeting>& greetings) const;

  Parts parts_;
  const MeasureJob& job_;
  MessageMemory memory_;
  MeasureRank
      rank_;  // the guard asks it as long as the session is there, also when run() has thrown
};

}  // namespace strato::worker
