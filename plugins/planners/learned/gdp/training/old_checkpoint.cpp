#include "plugins/planners/learned/gdp/training/old_checkpoint.h"

#include "plugins/planners/learned/gdp/training/lessons.h"
#include "plugins/planners/learned/kit/training/old_checkpoint.h"

namespace strato::gdp {

learned::Checkpoint read_old_checkpoint(std::string_view bytes, const std::string& file) {
  ByteReader in(learned::unsealed(bytes, "gdp", file), file,
                {"the checkpoint", "start the training without it, or give another --checkpoint"});
  learned::Checkpoint checkpoint;
  checkpoint.fingerprint = in.text();
  checkpoint.step = in.number<std::int64_t>();
  checkpoint.collected.searches = in.number<std::int64_t>();
  checkpoint.collected.examples = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  checkpoint.loss_sum = in.number<double>();
  checkpoint.losses = in.number<std::int64_t>();
  checkpoint.network = learned::read_old_network(in, "gdp", file);
  std::deque<LessonRecord> lessons;
  const std::size_t count = in.count(sizeof(std::int64_t));
  for (std::size_t i = 0; i < count; ++i) {
    LessonRecord& lesson = lessons.emplace_back();
    lesson.number = in.number<std::int64_t>();
    lesson.answer.resize(in.count(sizeof(std::int32_t)));
    for (std::int32_t& choice : lesson.answer) choice = in.number<std::int32_t>();
  }
  checkpoint.experience = write_lessons(lessons);
  return checkpoint;
}

}  // namespace strato::gdp
