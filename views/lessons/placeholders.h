// Numbers in the texts of lessons: "{step_time}" is what the window shows now, so that no text
// disagrees with it.
#pragma once

#include <QString>
#include <QStringList>

#include "views/models/session.h"

namespace strato {

// What the numbers are taken from.
struct LessonMoment {
  Session* session = nullptr;
  // When the lesson's step began; 0, empty: unknown.
  Nanos before;         // step time
  Bytes memory_before;  // of the fullest device
  QString run_before;   // of the search
  std::int64_t iterations_before = 0;
};

// Names that may stand in braces.
QStringList placeholder_names();
// The first name in braces of `text` that is none; empty: all are. "{{" stands for a brace.
QString unknown_placeholder(const QString& text);
// Every placeholder by its value now; "…" where it is not known yet.
QString filled(const QString& text, const LessonMoment& moment);

}  // namespace strato
