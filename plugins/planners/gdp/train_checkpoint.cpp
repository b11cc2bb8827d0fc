#include "plugins/planners/gdp/train_checkpoint.h"

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/graph/byte_io.h"

namespace strato::gdp {
namespace {

constexpr std::string_view kMagic = "stratoscope-gdp-training 1\n";
constexpr const char* kRemedy = "start the training without it, or give another --checkpoint";

std::string sum_of(std::string_view content) {
  const Digest digest = digest_of(content);
  return std::move(ByteWriter().number(digest.high).number(digest.low)).take();
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  ByteWriter out;
  out.text(checkpoint.fingerprint).number(checkpoint.visits).number(checkpoint.evaluations);
  out.number(checkpoint.elapsed_seconds).text(checkpoint.network).text(checkpoint.optimizer);
  const std::string content = std::move(out).take();
  write_file(file, std::string(kMagic) + sum_of(content) + content);
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                          const std::string& fingerprint) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  const std::string bytes = read_file(file), name = file.string();
  if (!bytes.starts_with(kMagic))
    throw InputError(name, "", "is no checkpoint of a training of 'gdp' by this version", kRemedy);
  const std::string_view rest = std::string_view(bytes).substr(kMagic.size());
  const std::size_t sum = sum_of("").size();
  if (rest.size() < sum || rest.substr(0, sum) != sum_of(rest.substr(sum)))
    throw InputError(name, "", "the checkpoint is damaged or cut short", kRemedy);
  ByteReader in(rest.substr(sum), name, {"the checkpoint", kRemedy});
  Checkpoint checkpoint;
  checkpoint.fingerprint = in.text();
  checkpoint.visits = in.number<std::int64_t>();
  checkpoint.evaluations = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  checkpoint.network = in.text();
  checkpoint.optimizer = in.text();
  if (checkpoint.fingerprint != fingerprint)
    throw InputError(name, "", "it was made with other options, models or clusters",
                     "give the same again, or another --checkpoint");
  return checkpoint;
}

}  // namespace strato::gdp
