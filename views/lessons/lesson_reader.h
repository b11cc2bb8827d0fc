// Reads lessons from files that people write. Errors name file, place, problem and remedy.
#pragma once

#include <QStringList>
#include <filesystem>
#include <string_view>
#include <vector>

#include "views/lessons/lesson.h"

namespace strato {

// Throws InputError. `places`: what `highlight` and `show_view` may name. Names of models and
// clusters without a suffix are bundled samples, others lie beside the lesson.
Lesson read_lesson(const std::filesystem::path& file, const QStringList& places);
Lesson parse_lesson(std::string_view json, const std::filesystem::path& file,
                    const QStringList& places);

// All of a folder in the order of their names: those that can be read, and a line for each other.
struct Lessons {
  std::vector<Lesson> lessons;
  QStringList errors;
};
Lessons read_lessons(const std::filesystem::path& folder, const QStringList& places);
std::filesystem::path lessons_folder();  // the bundled ones

}  // namespace strato
