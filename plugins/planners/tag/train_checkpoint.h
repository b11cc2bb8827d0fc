// A training as it stands between two steps, in one file.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/planners/tag/train_examples.h"

namespace strato::tag {

struct Checkpoint {
  std::string fingerprint;  // settings, models and clusters: all that shapes the weights
  std::int64_t step = 0, searches = 0, examples = 0;
  double elapsed_seconds = 0;
  double loss = 0;  // mean since the last point of the curve
  std::int64_t losses = 0;
  std::string network, optimizer;  // as Network makes them
  std::deque<Record> records;      // latest examples, oldest first
  BestKnown known;
};

std::string to_bytes(const Checkpoint& checkpoint);
// Throws InputError when it is damaged, of another version or of another kind; `file` in messages.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& file);
// Nothing when there is no such file. Throws InputError also when the fingerprint is another one,
// and says what differs.
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                          const std::string& fingerprint);

}  // namespace strato::tag
