// Does in the window what a lesson asks a person to do, by the same ways: sessions, selection,
// views. All of it can be undone where a person's act could.
#pragma once

#include "views/lessons/lesson.h"
#include "views/lessons/lesson_stage.h"
#include "views/models/session.h"

namespace strato {

// Returns at once; simulations and searches go on in the background. Throws InputError where the
// problem has no such device, group, link or planner.
void perform(const LessonAction& action, Session& session, LessonStage& stage);

// The strategy of a baseline: "dp-allreduce", "dp-ps", "dp-allreduce-proportional", or
// "single-device". Throws InputError.
Strategy baseline_named(const QString& name, const Problem& problem);
bool is_baseline(const QString& name);

}  // namespace strato
