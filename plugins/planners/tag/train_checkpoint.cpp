#include "plugins/planners/tag/train_checkpoint.h"

#include <cmath>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/planners/neural/sealed.h"

namespace strato::tag {
namespace {

constexpr std::string_view kCheckpointMagic = "stratoscope-tag-training 2\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The first line that differs, as it was and as it is.
std::string difference(const std::string& then, const std::string& now) {
  const auto before = lines_of(then), after = lines_of(now);
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string was = i < before.size() ? before[i] : "nothing";
    const std::string is = i < after.size() ? after[i] : "nothing";
    if (was != is) return "it was made with " + was + ", this is " + is;
  }
  return "it was made with other options";
}

void check_ranges(const Checkpoint& checkpoint, const ByteReader& in) {
  const bool sound = checkpoint.step >= 0 && checkpoint.searches >= 0 && checkpoint.examples >= 0 &&
                     checkpoint.losses >= 0 && std::isfinite(checkpoint.elapsed_seconds) &&
                     std::isfinite(checkpoint.loss);
  if (!sound) in.damaged("its counters are impossible");
}

}  // namespace

std::string to_bytes(const Checkpoint& checkpoint) {
  ByteWriter out;
  out.text(checkpoint.fingerprint);
  out.number(checkpoint.step).number(checkpoint.searches).number(checkpoint.examples);
  out.number(checkpoint.elapsed_seconds).number(checkpoint.loss).number(checkpoint.losses);
  out.text(checkpoint.network).text(checkpoint.optimizer);
  out.number(static_cast<std::uint32_t>(checkpoint.records.size()));
  for (const Record& record : checkpoint.records) write(out, record);
  out.number(static_cast<std::uint32_t>(checkpoint.known.size()));
  for (const auto& [ground, actions] : checkpoint.known) write(out, Record{ground, actions, {}});
  return neural::seal(kCheckpointMagic, std::move(out).take());
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& file) {
  ByteReader in(neural::unsealed(bytes, kCheckpointMagic, "tag", file), file);
  Checkpoint checkpoint;
  checkpoint.fingerprint = in.text();
  checkpoint.step = in.number<std::int64_t>();
  checkpoint.searches = in.number<std::int64_t>();
  checkpoint.examples = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  checkpoint.loss = in.number<double>();
  checkpoint.losses = in.number<std::int64_t>();
  checkpoint.network = in.text();
  checkpoint.optimizer = in.text();
  check_ranges(checkpoint, in);
  const std::size_t records = in.count(1);
  for (std::size_t i = 0; i < records; ++i) checkpoint.records.push_back(read_record(in));
  const std::size_t known = in.count(1);
  for (std::size_t i = 0; i < known; ++i) {
    Record record = read_record(in);
    checkpoint.known[record.ground] = std::move(record.decided);
  }
  return checkpoint;
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                          const std::string& fingerprint) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  Checkpoint checkpoint = parse_checkpoint(read_file(file), file.string());
  if (checkpoint.fingerprint != fingerprint)
    throw InputError(file.string(), "", difference(checkpoint.fingerprint, fingerprint),
                     "give the same again, or another --checkpoint");
  return checkpoint;
}

}  // namespace strato::tag
