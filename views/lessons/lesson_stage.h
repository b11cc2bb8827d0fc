// The window as lessons see it: its places by name, and what is shown there. The main window has
// one (app/explorer/window_stage.h).
#pragma once

#include <QString>
#include <optional>

class QWidget;

namespace strato {

class LessonStage {
 public:
  virtual ~LessonStage() = default;
  virtual QWidget* place(const QString& name) const = 0;  // null: there is none of this name
  virtual bool shows(const QString& view) const = 0;
  virtual void show_view(const QString& view) = 0;

  // The replay of the search tree.
  struct Replay {
    std::size_t step, steps;
  };
  virtual std::optional<Replay> replayed() const = 0;  // nothing while it is closed
  virtual void replay(bool on) = 0;
  virtual void seek_replay(std::size_t step) = 0;
};

}  // namespace strato
