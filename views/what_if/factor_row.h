// One quantity of the problem to be moved: its name, a slider in equal factors with today in the
// middle, and a field for the exact value.
#pragma once

#include <QObject>
#include <QString>

class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QSlider;
class QWidget;

namespace strato {

class FactorRow : public QObject {
  Q_OBJECT
 public:
  // `whole`: a number of samples instead of a factor. Takes the next line of the grid.
  FactorRow(const QString& name, const QString& tip, bool whole, QGridLayout* grid,
            QWidget* parent);

  void set_today(double today);   // of a factor: 1
  void show_value(double value);  // as if it had been so all along: no signal
  double value() const;
  void set_tip(const QString& tip);
  QSlider& slider() { return *slider_; }
  QDoubleSpinBox& field() { return *field_; }

 signals:
  void moved(double value);

 private:
  void slide(int position);
  void type(double value);
  void mark();

  const bool whole_;
  double today_ = 1;
  QLabel* label_;
  QSlider* slider_;
  QDoubleSpinBox* field_;
};

}  // namespace strato
