#include "views/models/run_words.h"

#include <QCoreApplication>

namespace strato {

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
