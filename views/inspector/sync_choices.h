// Small makings of the form of synchronisation (internal to views/inspector).
#pragma once

#include <QStringList>

class QComboBox;
class QSpinBox;
class QWidget;

namespace strato {

enum SynchroniserChoice { AsGroup, ByAllReduce, ByPs };  // lines of the form's first choice

// The wheel changes it only while it has the focus.
QComboBox* make_choice(const QStringList& items, const QString& differs, QWidget* parent);
// Its list hides nothing above it.
void open_below(QComboBox& box);
// Its edits are made when they are complete. `lowest`: what the least number is shown as.
QSpinBox* make_number(int least, int most, const QString& lowest, QWidget* parent);
// With the reason as its tip while it is off.
void set_item_enabled(QComboBox& box, int item, bool enabled, const QString& why);

}  // namespace strato
