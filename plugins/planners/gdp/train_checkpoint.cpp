#include "plugins/planners/gdp/train_checkpoint.h"

#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "core/io/file.h"
#include "plugins/planners/neural/sealed.h"

namespace strato::gdp {
namespace {

constexpr std::string_view kMagic = "stratoscope-gdp-training 2\n";
constexpr const char* kRemedy = "start the training without it, or give another --checkpoint";

void write_lesson(ByteWriter& out, const LessonRecord& lesson) {
  out.number(lesson.number).number(static_cast<std::uint32_t>(lesson.answer.size()));
  for (const std::int32_t choice : lesson.answer) out.number(choice);
}

LessonRecord read_lesson(ByteReader& in) {
  LessonRecord lesson;
  lesson.number = in.number<std::int64_t>();
  const std::size_t units = in.count(sizeof(std::int32_t));
  for (std::size_t u = 0; u < units; ++u) lesson.answer.push_back(in.number<std::int32_t>());
  return lesson;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  ByteWriter out;
  out.text(checkpoint.fingerprint).number(checkpoint.steps).number(checkpoint.visits);
  out.number(checkpoint.evaluations).number(checkpoint.elapsed_seconds);
  out.number(checkpoint.loss_sum).number(checkpoint.losses);
  out.text(checkpoint.network).text(checkpoint.optimizer);
  out.number(static_cast<std::uint32_t>(checkpoint.lessons.size()));
  for (const LessonRecord& lesson : checkpoint.lessons) write_lesson(out, lesson);
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
  checkpoint.steps = in.number<std::int64_t>();
  checkpoint.visits = in.number<std::int64_t>();
  checkpoint.evaluations = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  checkpoint.loss_sum = in.number<double>();
  checkpoint.losses = in.number<std::int64_t>();
  checkpoint.network = in.text();
  checkpoint.optimizer = in.text();
  const std::size_t lessons = in.count(sizeof(std::int64_t));
  for (std::size_t i = 0; i < lessons; ++i) checkpoint.lessons.push_back(read_lesson(in));
  if (checkpoint.fingerprint != fingerprint)
    throw InputError(name, "", "it was made with other options, models or clusters",
                     "give the same again, or another --checkpoint");
  return checkpoint;
}

}  // namespace strato::gdp
