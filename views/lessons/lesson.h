// A lesson, as its file says it: a problem, a strategy to begin with, and steps that show
// something, ask for an action in the window, check it and explain. The format is described in
// resources/lessons/README.md.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

// Op groups as a lesson names them.
struct GroupChoice {
  // Named: those of `names`; MostParameters and Slowest: that one; NoParameters: those without.
  enum class Which { All, Any, Named, MostParameters, Slowest, WithParameters } which = Which::All;
  QStringList names;
};

// What is asked of the window; several conditions of one step must hold together.
struct Condition {
  enum class Kind {
    ViewShown,      // name
    GroupSelected,  // name, or empty for any
    DeviceSelected,
    LinkSelected,
    TaskSelected,
    RangeSelected,
    GroupsDecided,  // groups, and mode, devices, uneven where they are given
    StepTimeBelow,  // number: seconds
    FasterBy,       // number: part of the step time when the lesson's step began
    SlowerBy,
    SpeedupAbove,  // number: times data parallel
    LessMemoryBy,  // number: part of the fullest device's peak when the step began
    Feasible,      // flag
    SearchFinished,
    ReplayOpen,        // flag
    ReplayBefore,      // number: step
    Batch,             // number
    SufficientFactors  // flag: whether any op is computed everywhere instead of synchronised
  } kind = Kind::ViewShown;
  QString name;
  double number = 0;
  bool flag = true;
  GroupChoice groups;
  std::optional<Mode> mode;
  QStringList devices;  // machines or device groups, by name: exactly these are used
  std::optional<bool> uneven;
};

// What "do it for me" does.
struct LessonAction {
  enum class Kind {
    ShowView,      // name
    Strategy,      // name: a baseline
    Decide,        // groups, and mode, devices, uneven where they are given
    SelectGroup,   // groups: the first of them
    SelectDevice,  // name
    SelectLink,
    SelectTask,   // the longest computation, or of communication: name
    SelectRange,  // number, until: parts of the step
    Search,       // name: planner; number: iterations
    Replay,       // flag
    ReplaySeek,   // number: step
    Batch         // number
  } kind = Kind::ShowView;
  QString name;
  double number = 0, until = 0;
  bool flag = true;
  GroupChoice groups;
  std::optional<Mode> mode;
  QStringList devices;
  std::optional<bool> uneven;  // shares in proportion to speed, or even
};

struct LessonStep {
  QString title, text;           // Markdown with placeholders (placeholders.h)
  QStringList highlight;         // places of the window
  QString ask;                   // empty: there is nothing to do but to read
  std::vector<Condition> until;  // none without `ask`
  QString hint, afterwards;
  std::vector<LessonAction> actions;
};

struct Lesson {
  QString id;  // the file's name without its suffix
  QString title, summary;
  std::filesystem::path model, cluster;
  std::int64_t batch = 32;
  int max_groups = 60;
  bool training = true;
  std::vector<LessonAction> start;  // after the problem is open
  std::vector<LessonStep> steps;
  bool is_exercise =
      false;     // `steps` is empty: the text is `summary`, and what counts is the score
  QString text;  // of an exercise
};

}  // namespace strato
