// A training as it stands between two steps, in one file: an archive of tensors
// (core/data/safetensors.h) with the network, its optimizer and the learner's experience.
// Include in .cpp files only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/container.h"
#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::learned {

// The amount of experience that has been collected.
struct Collected {
  std::int64_t searches = 0;
  std::int64_t examples = 0;  // that searches made, or evaluations that they took
};

struct Checkpoint {
  std::string fingerprint;  // settings, models and clusters: all that shapes the weights
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  double loss_sum = 0;  // of the steps since the last point of the curve
  std::int64_t losses = 0;
  Collected collected;
  NetworkState network;
  std::string experience;  // as the learner makes it
};

std::string write_checkpoint(const Checkpoint& checkpoint, const std::string& planner);
// Throws InputError when it is damaged, of another version or of another planner; `file`: its name,
// for messages. Also for the state that processes take over (agree_on_start).
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& planner,
                            const std::string& file);

// Checkpoints as versions before the archive of tensors wrote them: a magic line
// ("stratoscope-tag-training 2\n"; the number is the version), a digest of the content, the
// content. Throws InputError as parse_checkpoint() does; `experience` reads the learner's own from
// the end of the content, and returns it in today's form.
bool is_old_checkpoint(std::string_view bytes);  // as far as the first bytes tell
Checkpoint parse_old_checkpoint(std::string_view bytes, const std::string& planner,
                                const std::string& file,
                                const std::function<std::string(ByteReader&)>& experience);

// Throws InputError when the two differ, and says in what.
void expect_same_training(const Checkpoint& checkpoint, const std::string& fingerprint,
                          const std::string& file);

// Lists of lists of numbers in a container (core/io/container.h): their lengths, and all numbers.
template <PlainNumber T>
Json packed_lists(const std::vector<std::vector<T>>& lists) {
  std::vector<std::uint32_t> lengths;
  std::vector<T> values;
  for (const std::vector<T>& list : lists) {
    lengths.push_back(static_cast<std::uint32_t>(list.size()));
    values.insert(values.end(), list.begin(), list.end());
  }
  return {{"lengths", packed(lengths)}, {"values", packed(values)}};
}

template <PlainNumber T>
std::vector<std::vector<T>> unpacked_lists(const JsonView& view) {  // throws InputError
  const auto lengths = unpacked<std::uint32_t>(view.at("lengths"));
  const auto values = unpacked<T>(view.at("values"));
  std::vector<std::vector<T>> lists;
  std::size_t at = 0;
  for (const std::uint32_t length : lengths) {
    if (length > values.size() - at) view.fail("has fewer numbers than its lengths say", "");
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    lists.emplace_back(begin, begin + length);
    at += length;
  }
  return lists;
}

}  // namespace strato::learned
