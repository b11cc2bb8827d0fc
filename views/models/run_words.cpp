#include "views/models/run_words.h"

#include <QCoreApplication>

#include "views/models/problem_source.h"
#include "views/models/session.h"
#include "views/style/text.h"

namespace strato {

QString model_words(const Session& session) {
  const ModelSource* model = session.model_source();
  const auto& problem = session.snapshot().problem;
  if (model == nullptr || !problem) return {};
  QString words = QCoreApplication::translate("RunState", "%1 · batch %2")
                      .arg(session.model_name())
                      .arg(problem->graph->batch());
  if (model->import.precision)
    words += QStringLiteral(" · ") + text(name_of(*model->import.precision));
  return words;
}

QString run_state_text(RunState state) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("RunState", text); };
  switch (state) {
    case RunState::Running:
      return tr(QT_TRANSLATE_NOOP("RunState", "running"));
    case RunState::Paused:
      return tr(QT_TRANSLATE_NOOP("RunState", "paused"));
    case RunState::Finished:
      return tr(QT_TRANSLATE_NOOP("RunState", "finished"));
    case RunState::Stopped:
      return tr(QT_TRANSLATE_NOOP("RunState", "stopped"));
    case RunState::Failed:
      return tr(QT_TRANSLATE_NOOP("RunState", "failed"));
  }
  return {};
}

}  // namespace strato
