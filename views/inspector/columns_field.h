// How many devices compute each op of the selected groups together (Decision::tensor): one edit for
// each choice, among the widths that divide the devices of all of them.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/session.h"

class QComboBox;

namespace strato {

class EditPreview;

class ColumnsField : public QWidget {
  Q_OBJECT
 public:
  // `preview`: told what the choice under the cursor would do; outlives the field.
  ColumnsField(Session& session, EditPreview& preview, QWidget* parent = nullptr);
  void refresh();  // the selection or the strategy has changed
  QComboBox& choice() { return *choice_; }

 protected:
  void enterEvent(QEnterEvent* event) override;  // a list over it is closed
  void leaveEvent(QEvent* event) override;

 private:
  void choose(int index);
  Strategy chosen(int index) const;

  Session& session_;
  EditPreview& preview_;
  QComboBox* choice_;
  std::vector<std::int32_t> widths_;  // by item
};

}  // namespace strato
