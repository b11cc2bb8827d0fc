// Whether what a lesson asks for is so now. Cheap: asked several times a second.
#pragma once

#include "views/lessons/lesson.h"
#include "views/lessons/lesson_stage.h"
#include "views/lessons/placeholders.h"

namespace strato {

// False while the session is busy: what is shown is not yet the outcome of the last edit.
bool holds(const Condition& condition, const LessonMoment& moment, const LessonStage& stage);
bool all_hold(const std::vector<Condition>& conditions, const LessonMoment& moment,
              const LessonStage& stage);

}  // namespace strato
