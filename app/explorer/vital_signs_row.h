// The vital signs of the strategy shown, in one line: step time, speed-up, bound, memory, and what
// the last change did, which is below them in a narrow window.
#pragma once

#include <QWidget>

#include "views/models/session.h"
#include "views/models/vital_signs.h"

class QBoxLayout;
class QLabel;

namespace strato {

class VitalSignsRow : public QWidget {
 public:
  explicit VitalSignsRow(Session& session, QWidget* parent = nullptr);
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void stack_where_narrow();
  void show_step(const VitalSigns& signs);
  void show_speedup(const VitalSigns& signs);
  void show_bound(const VitalSigns& signs);
  void show_memory(const VitalSigns& signs);
  void follow_link(const QString& link);
  QString delta_text(const VitalSigns& signs) const;
  QString step_tip() const;

  Session& session_;
  QString error_text_;  // the last one stays while the next is computed
  QBoxLayout* lines_;
  QLabel *step_, *speedup_, *bound_, *memory_, *delta_;
};

}  // namespace strato
