// The micro-batches of the whole step and their schedule: one edit for each choice. What cannot be
// is refused with a message of the session, and nothing is changed.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/session.h"

class QComboBox;
class QLabel;

namespace strato {

class EditPreview;

class MicroBatchField : public QWidget {
  Q_OBJECT
 public:
  explicit MicroBatchField(Session& session, QWidget* parent = nullptr);
  void refresh();  // the strategy has changed
  QComboBox& count() { return *count_; }
  QComboBox& schedule() { return *schedule_; }

 protected:
  void enterEvent(QEnterEvent* event) override;  // a list over it is closed
  void leaveEvent(QEvent* event) override;

 private:
  MicroBatches with_count(int index) const;
  MicroBatches with_schedule(int index) const;
  void preview_choice(const MicroBatches& wanted);
  void show_effect();
  void choose(const MicroBatches& wanted);

  Session& session_;
  EditPreview* preview_;  // of the choice under the cursor
  QComboBox *count_, *schedule_;
  QLabel* effect_line_;               // what the choice under the cursor would do
  std::vector<std::int32_t> counts_;  // by item
};

}  // namespace strato
