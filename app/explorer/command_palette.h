// The command palette (Ctrl+Shift+P): a line to write in over a list of all that can be done now.
// Up and Down choose, Enter runs, Esc closes.
#pragma once

#include <QDialog>
#include <functional>

#include "app/explorer/command_model.h"

class QLabel;
class QLineEdit;
class QListView;

namespace strato {

class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  // `used` is told the id of what is run, just before it is.
  CommandPalette(std::vector<Command> commands, const QStringList& recent,
                 std::function<void(const QString& id)> used, QWidget* parent);

  QLineEdit& line() { return *line_; }
  const CommandModel& model() const { return *model_; }
  int current_row() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
  void refresh();
  void choose_by(int rows);
  void run_current();

  std::function<void(const QString&)> used_;
  CommandModel* model_;
  QLineEdit* line_;
  QListView* list_;
  QLabel* note_;
};

}  // namespace strato
