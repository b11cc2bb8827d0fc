#include "plugins/planners/gdp/train_checkpoint.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/graph/byte_io.h"
#include "plugins/planners/neural/sealed.h"

namespace strato::gdp {
namespace {

constexpr std::string_view kMagic = "stratoscope-gdp-training 1\n";
constexpr const char* kRemedy = "start the training without it, or give another --checkpoint";

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  ByteWriter out;
  out.text(checkpoint.fingerprint).number(checkpoint.visits).number(checkpoint.evaluations);
  out.number(checkpoint.elapsed_seconds).text(checkpoint.network).text(checkpoint.optimizer);
  write_file(file, neural::seal(kMagic, std::move(out).take()));
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                          const std::string& fingerprint) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  const std::string bytes = read_file(file), name = file.string();
  ByteReader in(neural::unsealed(bytes, kMagic, "gdp", name), name, {"the checkpoint", kRemedy});
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
